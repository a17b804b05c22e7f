// Prepares the listener for agents, and the registry of their sessions.

import type { Logger } from 'pino';
import { sessionChallengesByLink } from '../cluster/session-challenges-by-link.ts';
import type { Config } from '../config/config.ts';
import type { LiveEdges } from '../edge/edges/live-edges.ts';
import type { LiveRestrictions } from '../edge/restrictions/live-restrictions.ts';
import type { Certificates } from '../edge/tls/certificates.ts';
import type { AgentAddresses } from '../tunnel/control/agent-addresses.ts';
import type { Registrar } from '../tunnel/control/registrar.ts';
import { ResumeTokens } from '../tunnel/control/resume-tokens.ts';
import type { TcpPorts } from '../tunnel/control/tcp-ports.ts';
import type { TunnelSettings } from '../tunnel/control/tunnel-settings.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import { AccountQuotas } from '../tunnel/session/account-quotas.ts';
import { type AgentListener, createAgentListener } from '../tunnel/session/agent-listener.ts';
import { AgentSessions } from '../tunnel/session/agent-sessions.ts';
import { AuthtokenThrottle } from '../tunnel/session/authtoken-throttle.ts';
import { SessionMoves } from '../tunnel/session/session-moves.ts';
import type { TunnelModules } from '../tunnel/tunnel-modules.ts';
import type { ClusterPlane } from './cluster-plane.ts';
import type { Lifecycle } from './lifecycle.ts';

export interface AgentPlaneParts {
  /** With the ports that the URLs of endpoints show. */
  settings: TunnelSettings;
  registrar: Registrar;
  endpoints: EndpointRegistry;
  modules: TunnelModules;
  tcpPorts: TcpPorts;
  /** The key that signs cookies and bind tokens. */
  tokenKey: Buffer;
  certificates: Certificates;
  edges: Pick<LiveEdges, 'isAgentName'>;
  restrictions: Pick<LiveRestrictions, 'of' | 'onChange'>;
  /** The names and addresses in the listener's own certificate. */
  hosts: string[];
  log: Logger;
  onFailure(error: unknown): void;
  /** The links to other nodes, to which agents move at a stop; undefined where there are none. */
  cluster?: Pick<ClusterPlane, 'calls' | 'methods' | 'holdVisitors' | 'releaseVisitors' | 'moveEndpoints'> | undefined;
  /** Whether agents move to other nodes while visitors are still served. */
  movesAgents(): boolean;
}

export interface AgentPlane {
  agents: AgentListener;
  sessions: AgentSessions;
  /** How agents move to other nodes at a stop; undefined where there are none. */
  moves: SessionMoves | undefined;
}

/** @returns the listener, which does not listen yet, and the sessions, which end when the listener is stopped. */
export async function startAgentPlane(
  parts: Lifecycle,
  config: Config,
  {
    settings,
    registrar,
    endpoints,
    modules,
    tcpPorts,
    tokenKey,
    certificates,
    edges,
    restrictions,
    hosts,
    log,
    onFailure,
    cluster,
    movesAgents,
  }: AgentPlaneParts,
): Promise<AgentPlane> {
  const onEvent = (text: string, details: object) => log.info(details, text);
  const addresses: AgentAddresses = {
    of: (accountId) => restrictions.of('agent', accountId),
    onChange: (listener) => restrictions.onChange(listener),
  };
  const sessions = new AgentSessions({ registrar, endpoints, addresses, time: Date.now, onFailure, onEvent });
  const moves =
    cluster && new SessionMoves({ sessions, registrar, hold: cluster.holdVisitors, release: cluster.releaseVisitors });
  const identity = await certificates.agentListener(hosts);
  const contextOf = (name: string) =>
    certificates.operators(name) ?? (edges.isAgentName(name) ? certificates.ofAgents(name) : undefined);
  const agents = await parts.start({
    name: 'agent sessions',
    start: () =>
      createAgentListener(identity, contextOf, {
        settings,
        registrar,
        tcpPorts,
        tokens: new ResumeTokens(tokenKey),
        modules,
        challenges: sessionChallengesByLink(cluster, registrar.nodeId, (id) => sessions.challenge(id)),
        endpoints,
        addresses,
        sessions,
        authtokenThrottle: new AuthtokenThrottle(),
        quotas: new AccountQuotas(config, tcpPorts),
        time: Date.now,
        isStopping: () => parts.phase === 'stopping',
        onFailure,
        onEvent,
      }),
    // The sessions close after the visitors' listeners have drained, as responses still come through the sessions.
    async drain(agents, drainMs) {
      if (!moves || !movesAgents()) return;
      agents.stopListening();
      await moves.run(drainMs);
    },
    async stop(agents) {
      await cluster?.moveEndpoints();
      await agents.close(() => sessions.close());
    },
  });
  return { agents, sessions, moves };
}
