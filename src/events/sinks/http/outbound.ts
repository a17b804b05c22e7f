// The connections to destinations: every socket of every sink is made by these agents. Tenants name hosts, so each agent
// checks the addresses that it connects to itself, whatever was checked before: names may lead anywhere, and change.

import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { guardedLookup, isPublicAddress } from '../../../net/public-addresses.ts';
import type { EventSettings } from '../../settings.ts';
import { SinkError } from '../sink.ts';
import { allowedHostsOf, hostOfUrl } from './allowed-hosts.ts';

export interface AgentPair {
  readonly https: HttpsAgent;
  readonly http: HttpAgent;
}

/** To public addresses, and to the operator's overrides. */
export interface Outbound extends AgentPair {
  /** To hosts and networks of `eventWebhookHosts`. Over HTTP to its networks alone. */
  readonly allowedHosts: AgentPair;
  /** Cuts every connection. */
  close(): void;
}

/** Of what is refused because of its address; of kind `config`. */
export const FORBIDDEN_ADDRESS = 'FORBIDDEN_ADDRESS';

/** Says which addresses of a host may be connected to. Hosts of IPv6 are without brackets. */
type AddressGuard = (host: string, port: number) => (address: string) => boolean;

/** For one host: as many as lanes can be under way, so that none waits for another. */
const SOCKETS_PER_HOST = 256;
const SOCKETS = 1024;
const FREE_SOCKETS_PER_HOST = 8;
/** After so many milliseconds without a byte a connection is closed, in use or not. */
const STALL_MS = 60_000;

/**
 * Proxies of the environment are not used.
 * Overrides are exact: about one host and port, which may be at any address.
 * @throws when `eventCaFile` cannot be read or has something else in it than certificates.
 */
export function openOutbound(
  settings: Pick<EventSettings, 'eventEndpoints' | 'eventCaFile' | 'eventWebhookHosts'>,
): Outbound {
  const overrides = new Set(Object.values(settings.eventEndpoints).map(placeOf));
  const hosts = allowedHostsOf(settings.eventWebhookHosts);
  const authorities = settings.eventCaFile && authoritiesOf(settings.eventCaFile);

  const toClouds: AddressGuard = (host, port) => (overrides.has(`${host}:${port}`) ? () => true : isPublicAddress);
  const toNetworks: AddressGuard = () => hosts.networks.has;
  const toAllowedHosts: AddressGuard = (host) =>
    hosts.hasName(host) ? (address) => isPublicAddress(address) || hosts.networks.has(address) : hosts.networks.has;

  const agentsOf = (https: AddressGuard, http: AddressGuard): AgentPair => ({
    https: guarded(new HttpsAgent({ ...limits, ...(authorities && { secureContext: authorities }) }), https),
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

/** Makes an agent check each address before it connects. `lookup` is not asked for addresses, so those are checked first. */
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
  // While it was free the time was the shorter one that its server had named.
  agent.reuseSocket = (socket, request) => {
    reuse(socket, request);
    (socket as Socket).setTimeout(STALL_MS);
  };
  return agent;
}

/** Does not say which address it is: that is not for those who named the host. */
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

/** Made once: reading 150 certificates for each connection takes longer than its handshake. */
function authoritiesOf(file: string): SecureContext {
  const pem = readFileSync(file, 'utf8');
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error(`EVENT_CA_FILE has no certificates: ${file}`);
  return createSecureContext({ ca: [...rootCertificates, pem] });
}
