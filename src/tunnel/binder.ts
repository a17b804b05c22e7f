// Binds: what an agent asks to serve, decided and made live.

import type { Bind } from '../protocol/messages.ts';
import { AgentError } from './agent-errors.ts';
import { checkTcpAddress, publicUrl, randomHostname, randomPort, readHostname } from './bind-name.ts';
import { type BindOptions, readOptions } from './bind-options.ts';
import type { LiveEndpoint, Proto } from './endpoint.ts';
import { addressOf } from './endpoints.ts';
import type { BindRequest, Refusal, Registrar } from './registrar.ts';
import type { TunnelSettings } from './settings.ts';
import type { TcpDoors } from './tcp-doors.ts';
import type { Tokens } from './tokens.ts';

/** How often another name or port is chosen when the one before turns out to be taken. */
const ATTEMPTS = 20;

export interface BinderParts {
  settings: TunnelSettings;
  registrar: Registrar;
  doors: TcpDoors;
  tokens: Tokens;
  /** Checks a traffic policy, JSON or YAML. @throws {AgentError} naming what is not well formed. */
  checkPolicy(text: string, proto: Proto): void;
}

/** A tunnel that the control plane knows of, and whose port is open. */
export type BoundTunnel = Omit<LiveEndpoint, 'isOpen' | 'open'>;

/** The session on whose behalf it is done. */
export interface Binding {
  sessionId: string;
  accountId: string;
}

/**
 * Decides a bind and registers it.
 * @throws {AgentError} why not; nothing is left behind then.
 */
export async function bindTunnel(parts: BinderParts, session: Binding, bind: Bind): Promise<BoundTunnel> {
  const { settings } = parts;
  const options = readOptions(bind, settings.baseDomain);
  if (options.policy) parts.checkPolicy(options.policy, options.proto);
  const { hostname, port, url, tunnelId, endpointId } =
    options.proto === 'tcp'
      ? await bindPort(parts, session, bind, options)
      : await bindName(parts, session, bind, options);
  return {
    id: endpointId,
    tunnelId,
    accountId: session.accountId,
    proto: options.proto,
    hostname,
    port,
    publicUrl: url,
    proxyProtocol: options.proxyProtocol,
    upstreamProtocol: options.upstreamProtocol,
    tls: options.tls,
  };
}

interface Registered {
  hostname: string;
  port: number;
  url: string;
  tunnelId: string;
  endpointId: string;
}

async function bindName(parts: BinderParts, session: Binding, bind: Bind, options: BindOptions): Promise<Registered> {
  const { settings, registrar } = parts;
  const { proto, name } = options;
  const port = proto === 'http' ? settings.publicHttpPort : settings.publicHttpsPort;
  for (let attempt = 1; ; attempt++) {
    const hostname = name === '' ? randomHostname(settings.baseDomain) : readHostname(name);
    const url = publicUrl(proto, hostname, port);
    const request = describe(parts, session, bind, proto, { hostname, port, publicUrl: url, chosen: name === '' });
    const answer = await registrar.bind(request);
    if (!('refused' in answer)) return { hostname, port, url, ...answer };
    if (name !== '' || answer.refused !== 'inUse' || attempt === ATTEMPTS) throw refusal(answer);
  }
}

/** The port is opened first: what the control plane says is live has to be so. */
async function bindPort(parts: BinderParts, session: Binding, bind: Bind, options: BindOptions): Promise<Registered> {
  const { settings, registrar, doors } = parts;
  const { baseDomain: hostname } = settings;
  checkTcpAddress(options.name, options.port, settings);
  for (let attempt = 1; ; attempt++) {
    const wanted = options.port ?? randomPort(settings);
    const port = await doors.open(wanted);
    const isLast = options.port !== null || attempt === ATTEMPTS;
    if (port === undefined) {
      if (isLast) throw refusal({ refused: 'inUse', target: `${hostname}:${wanted}` });
      continue;
    }
    const url = publicUrl('tcp', hostname, port);
    const chosen = options.port === null;
    const request = describe(parts, session, bind, 'tcp', { hostname, port, publicUrl: url, chosen });
    const answer = await registrar.bind(request).catch((error) => {
      doors.release(port, 0);
      throw error;
    });
    if (!('refused' in answer)) return { hostname, port, url, ...answer };
    doors.release(port, 0);
    if (answer.refused !== 'inUse' || isLast) throw refusal(answer);
  }
}

function describe(
  { tokens }: BinderParts,
  { sessionId, accountId }: Binding,
  bind: Bind,
  proto: Proto,
  address: Pick<BindRequest, 'hostname' | 'port' | 'publicUrl' | 'chosen'>,
): BindRequest {
  const isOwn = bind.id !== '' && tokens.isBindToken(bind.token, accountId, bind.id, addressOf({ proto, ...address }));
  const { pooling, forwardsTo, metadata } = bind;
  return { sessionId, resume: isOwn ? bind.id : null, proto, ...address, pooling, forwardsTo, metadata };
}

/** In words, with the number that the catalogue has for it. */
export function refusal(refused: Refusal): AgentError {
  return new AgentError(refused.refused, 'target' in refused ? { target: refused.target } : {});
}
