// The HTTP agents for destinations, which open every socket of every sink. Tenants choose the hosts, so each agent itself checks the
// addresses that it connects to: a name may resolve to any address, and may change after earlier checks.

import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { allowedHostsOf } from '../../../net/host-rules.ts';
import { guardedLookup, isOutsideAddress, isPublicAddress } from '../../../net/public-addresses.ts';
import { CLIENT_TLS } from '../../../protocol/tls-suites.ts';
import type { EventSettings } from '../../settings.ts';
import { SinkError } from '../sink.ts';
import { hostOfUrl } from './allowed-hosts.ts';

export interface AgentPair {
  readonly https: HttpsAgent;
  readonly http: HttpAgent;
}

/** The agents for public addresses and the operator's overrides. */
export interface Outbound extends AgentPair {
  /** Connects to the hosts and networks of `eventWebhookHosts`; over plain HTTP to its networks only. */
  readonly allowedHosts: AgentPair;
  /** Closes every connection. */
  close(): void;
}

/** The code of a connection that is refused because of its address. The failure is of kind `config`. */
export const FORBIDDEN_ADDRESS = 'FORBIDDEN_ADDRESS';

/** Decides which addresses of a host may be connected to. IPv6 hosts have no brackets. */
type AddressGuard = (host: string, port: number) => (address: string) => boolean;

/** The most sockets for one host: as many as queues that are delivered from at the same time, so that none waits for another. */
const SOCKETS_PER_HOST = 256;
const SOCKETS = 1024;
const FREE_SOCKETS_PER_HOST = 8;
/** A connection is closed after so many milliseconds without a byte, in use or not. */
const STALL_MS = 60_000;

/**
 * Opens the agents. They use no proxies of the environment. An override is for exactly one host and port, which may have any address.
 * @throws when `eventCaFile` cannot be read, or does not hold certificates only.
 */
export function openOutbound(
  settings: Pick<EventSettings, 'eventEndpoints' | 'eventCaFile' | 'eventWebhookHosts'>,
): Outbound {
  const overrides = new Set(Object.values(settings.eventEndpoints).map(placeOf));
  const hosts = allowedHostsOf(settings.eventWebhookHosts);
  const authorities = settings.eventCaFile && authoritiesOf(settings.eventCaFile);

  const toClouds: AddressGuard = (host, port) => (overrides.has(`${host}:${port}`) ? () => true : isOutsideAddress);
  const toNetworks: AddressGuard = () => hosts.networks.has;
  const toAllowedHosts: AddressGuard = (host) =>
    hosts.hasName(host) ? (address) => isPublicAddress(address) || hosts.networks.has(address) : hosts.networks.has;

  const agentsOf = (https: AddressGuard, http: AddressGuard): AgentPair => ({
    https: guarded(
      new HttpsAgent({ ...limits, ...CLIENT_TLS, ...(authorities && { secureContext: authorities }) }),
      https,
    ),
    http: guarded(new HttpAgent(limits), http),
  });
  const clouds = agentsOf(toClouds, toClouds);
  const allowedHosts = agentsOf(toAllowedHosts, toNetworks);
  return {
    ...clouds,
    allowedHosts,
    close() {
      for (const { https, http } of [clouds, allowedHosts]) {
        https.destroy();
        http.destroy();
      }
    },
  };
}

const limits = {
  keepAlive: true,
  maxSockets: SOCKETS_PER_HOST,
  maxTotalSockets: SOCKETS,
  maxFreeSockets: FREE_SOCKETS_PER_HOST,
  timeout: STALL_MS,
};

/** Makes an agent check each address before it connects. `lookup` is not called for IP addresses, so those are checked separately. */
function guarded<A extends HttpAgent>(agent: A, guard: AddressGuard): A {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const host = (options.host ?? '').replace(/^\[|\]$/g, '');
    const isAllowed = guard(host, Number(options.port));
    if (isIP(host) && !isAllowed(host)) {
      process.nextTick(() => callback?.(forbiddenAddress(), undefined as unknown as Duplex));
      return undefined;
    }
    const socket = connect({ ...options, lookup: guardedLookup(isAllowed, forbiddenAddress) }) as Socket;
    socket.on('timeout', () => socket.destroy(stalled()));
    return socket;
  };
  const reuse = agent.reuseSocket.bind(agent);
  // An idle socket may have a shorter timeout, which its server asked for.
  agent.reuseSocket = (socket, request) => {
    reuse(socket, request);
    (socket as Socket).setTimeout(STALL_MS);
  };
  return agent;
}

/** The error does not name the address, which the tenant who named the host must not learn. */
export function forbiddenAddress(): SinkError {
  return new SinkError('config', {
    code: FORBIDDEN_ADDRESS,
    message: 'the host is at an address that events may not be sent to',
  });
}

function stalled(): SinkError {
  return new SinkError('retry', { code: 'ETIMEDOUT', message: 'the connection has stalled' });
}

function placeOf(text: string): string {
  const url = new URL(text);
  return `${hostOfUrl(url)}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}

/** The trusted certificates, parsed once: parsing 150 of them for each connection takes longer than its handshake. */
function authoritiesOf(file: string): SecureContext {
  const pem = readFileSync(file, 'utf8');
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error(`EVENT_CA_FILE has no certificates: ${file}`);
  return createSecureContext({ ca: [...rootCertificates, pem], ...CLIENT_TLS });
}
