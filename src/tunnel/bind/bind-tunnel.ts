// Handles the bind requests of agents: checks the options and the ACL, chooses the address, and registers the tunnel.

import type { Bind } from '../../protocol/messages/messages.ts';
import { type Allowance, allows, type BindTarget } from '../control/acl.ts';
import { AgentError } from '../control/agent-errors.ts';
import type { AgentRefusal, BindRequest, Registrar } from '../control/registrar.ts';
import type { ResumeTokens } from '../control/resume-tokens.ts';
import type { SessionChallenges } from '../control/session-commands.ts';
import type { TcpPorts } from '../control/tcp-ports.ts';
import type { TunnelSettings } from '../control/tunnel-settings.ts';
import type { LiveEndpoint, RequestedRules } from '../endpoints/endpoint.ts';
import { endpointAddress, hasTcpPort, INTERNAL_PORTS, isInternalName } from '../endpoints/endpoint-registry.ts';
import type { HandledTunnel, TunnelModules } from '../tunnel-modules.ts';
import { checkTcpAddress, publicUrl, randomHostname, randomPort, readHostname } from './bind-name.ts';
import { type BindOptions, readOptions } from './bind-options.ts';

/** Attempts with generated names or ports, as one may be in use already. */
const ATTEMPTS_MAX = 20;
const PORT_MAX = 65_535;

export interface BindDeps {
  settings: TunnelSettings;
  registrar: Registrar;
  tcpPorts: TcpPorts;
  tokens: ResumeTokens;
  modules: TunnelModules;
  challenges: SessionChallenges;
}

/** A tunnel that the control plane has registered. The port of a TCP tunnel is open. */
export type BoundTunnel = Omit<LiveEndpoint, 'isOpen' | 'open' | 'requested'> & { requested: RequestedRules };

/** The session that binds the tunnel. */
export interface BindingSession {
  sessionId: string;
  accountId: string;
  credentialId: string;
  allowance: Allowance;
}

/**
 * Checks a bind request and registers the tunnel.
 * @throws {AgentError} with the reason for a refusal. Neither a port nor a registration remains then.
 */
export async function bindTunnel(deps: BindDeps, session: BindingSession, bind: Bind): Promise<BoundTunnel> {
  const { settings } = deps;
  const options = readOptions(bind, settings.baseDomain, deps.modules);
  await checkAcl(deps, session, options);
  const { proto, tls, modules } = options;
  const { accountId, allowance } = session;
  const tunnel: HandledTunnel = { accountId, proto, tls, allowance };
  const rules = await deps.modules.make(modules, tunnel);
  const { hostname, port, url, tunnelId, endpointId } = isTcpPort(options)
    ? await bindTcpPort(deps, session, bind, options)
    : await bindName(deps, session, bind, options);
  tunnel.tunnelId = tunnelId;
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
    forwardsTo: bind.forwardsTo,
    tls: options.tls,
    rules,
    requested: { modules, allowance },
  };
}

/**
 * Checks the ACL before the modules are compiled, so that a denied bind costs little. The registrar checks again in its
 * transaction, against the rules of that moment.
 */
async function checkAcl(
  { registrar, settings }: BindDeps,
  { credentialId, allowance }: BindingSession,
  options: BindOptions,
): Promise<void> {
  const { baseDomain } = settings;
  const { name, port } = options;
  const target: BindTarget = isTcpPort(options)
    ? { type: 'address', host: baseDomain, port }
    : { type: 'domain', domain: name === '' ? randomHostname(baseDomain) : readHostname(name) };
  if (allows(allowance.acl, target)) return;
  // The rules may have changed a moment ago, and the session may not have them yet.
  const grant = await registrar.grant(credentialId);
  if (!grant) throw bindError({ refused: 'sessionEnded' });
  allowance.acl = grant.acl;
  if (!allows(grant.acl, target)) throw bindError(aclRefusal(target));
}

interface BoundAddress {
  hostname: string;
  port: number;
  url: string;
  tunnelId: string;
  endpointId: string;
}

async function bindName(
  deps: BindDeps,
  session: BindingSession,
  bind: Bind,
  options: BindOptions,
): Promise<BoundAddress> {
  const { settings } = deps;
  const { proto, name } = options;
  const publicPort = proto === 'http' ? settings.publicHttpPort : settings.publicHttpsPort;
  for (let attempt = 1; ; attempt++) {
    const hostname = name === '' ? randomHostname(settings.baseDomain) : readHostname(name);
    // No visitor reaches an internal name, so it cannot conflict with the names of the gateway.
    if (settings.ownNames.has(hostname) && !isInternalName(hostname))
      throw new AgentError('gatewayName', { name: hostname });
    const port = isInternalName(hostname) ? internalPort(hostname, options) : publicPort;
    const url = publicUrl(proto, hostname, port);
    const request = bindRequest(deps, session, bind, options, {
      hostname,
      port,
      publicUrl: url,
      isGenerated: name === '',
    });
    const answer = await register(deps, request);
    if (!('refused' in answer)) return { hostname, port, url, ...answer };
    if (name !== '' || answer.refused !== 'inUse' || attempt === ATTEMPTS_MAX) throw bindError(answer);
  }
}

/** Whether a port of the gateway is asked for. An internal endpoint of TCP has a name. */
function isTcpPort({ proto, name }: BindOptions): boolean {
  return hasTcpPort({ proto, hostname: name.toLowerCase() });
}

/** An internal endpoint has no listener: its port is a part of its name. */
function internalPort(hostname: string, { proto, port = null }: BindOptions): number {
  const chosen = port ?? INTERNAL_PORTS[proto];
  if (chosen === undefined || chosen < 1 || chosen > PORT_MAX)
    throw new AgentError('badInternalPort', { name: hostname, max: PORT_MAX });
  return chosen;
}

/** Opens the port before registration, because the control plane shows a registered endpoint as live. */
async function bindTcpPort(
  deps: BindDeps,
  session: BindingSession,
  bind: Bind,
  options: BindOptions,
): Promise<BoundAddress> {
  const { settings, tcpPorts } = deps;
  const { baseDomain: hostname } = settings;
  checkTcpAddress(options.name, options.port, settings);
  for (let attempt = 1; ; attempt++) {
    const requestedPort = options.port ?? randomPort(settings);
    const port = await tcpPorts.open(requestedPort);
    const isLast = options.port !== null || attempt === ATTEMPTS_MAX;
    if (port === undefined) {
      if (isLast) throw bindError({ refused: 'inUse', target: `${hostname}:${requestedPort}` });
      continue;
    }
    const url = publicUrl('tcp', hostname, port);
    const isGenerated = options.port === null;
    const request = bindRequest(deps, session, bind, options, { hostname, port, publicUrl: url, isGenerated });
    const answer = await register(deps, request).catch((error) => {
      tcpPorts.release(port, 0);
      throw error;
    });
    if (!('refused' in answer)) return { hostname, port, url, ...answer };
    tcpPorts.release(port, 0);
    if (answer.refused !== 'inUse' || isLast) throw bindError(answer);
  }
}

/** Registers a tunnel. Sessions of the same credential that are in its way have to show that they are alive: who does not makes room. */
async function register(
  { registrar, challenges }: BindDeps,
  request: BindRequest,
): Promise<Awaited<ReturnType<Registrar['bind']>>> {
  const answer = await registrar.bind(request);
  const rivals = 'refused' in answer && answer.refused === 'inUse' ? (answer.rivals ?? []) : [];
  if (rivals.length === 0) return answer;
  const areOver = await Promise.all(rivals.map((session) => challenges.challenge(session)));
  return areOver.every(Boolean) ? registrar.bind(request) : answer;
}

function bindRequest(
  { tokens }: BindDeps,
  { sessionId, accountId }: BindingSession,
  bind: Bind,
  { proto, upstreamProtocol }: BindOptions,
  address: Pick<BindRequest, 'hostname' | 'port' | 'publicUrl' | 'isGenerated'>,
): BindRequest {
  const endpoint = endpointAddress({ accountId, proto, ...address });
  const isResumed = bind.id !== '' && tokens.verifyBindToken(bind.token, accountId, bind.id, endpoint);
  const { pooling, name, forwardsTo, metadata } = bind;
  return {
    ...{ sessionId, resume: isResumed ? bind.id : null, proto, ...address, pooling, name, forwardsTo, metadata },
    upstreamProtocol: proto === 'http' || proto === 'https' ? upstreamProtocol : '',
  };
}

/** The refusal for a target that the ACL denies. */
export function aclRefusal(target: BindTarget): AgentRefusal {
  switch (target.type) {
    case 'domain':
      return { refused: 'nameDenied', target: target.domain };
    case 'label':
      return { refused: 'labelDenied', target: `${target.key}=${target.value}` };
    case 'address': {
      const refused = target.port === null ? 'anyPortDenied' : 'addressDenied';
      return { refused, target: `${target.host}:${target.port}` };
    }
  }
}

/** The error of a refusal, with the number and text of the catalogue. */
export function bindError(refusal: AgentRefusal): AgentError {
  return new AgentError(refusal.refused, 'target' in refusal ? { target: refusal.target } : {});
}
