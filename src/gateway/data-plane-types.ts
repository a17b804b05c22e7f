// The data plane, as its users see it, and what it needs of them.

import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Captures } from '../capture/captures.ts';
import type { ClusterCaptures } from '../capture/cluster-captures.ts';
import type { EdgeVisit, EdgeVisitResult } from '../capture/edge-visit.ts';
import type { Replays } from '../capture/replay.ts';
import type { CaptureSource } from '../capture/stored-capture.ts';
import type { EdgeConfigSource, PublicPorts } from '../edge/edges/edge-config.ts';
import type { LiveEdges } from '../edge/edges/live-edges.ts';
import type { TrafficRecorderOptions } from '../edge/metrics/traffic-recorder.ts';
import type { ProxyProtocolListeners } from '../edge/proxy-protocol/listeners.ts';
import type { TrafficReporter } from '../edge/reports/traffic-reports.ts';
import type { RestrictionSource } from '../edge/restrictions/restriction-source.ts';
import type { Certificates } from '../edge/tls/certificates.ts';
import type { SecretSource } from '../edge/vaults/secret-source.ts';
import type { ModuleEnvironment } from '../http/module.ts';
import type { VisitorSessionSource } from '../http/visitor-sessions.ts';
import type { ConnectionCounts } from '../net/connection-counts.ts';
import type { CompileQueue } from '../policy/compile/compile-queue.ts';
import type { ClusterRequestLog } from '../request-log/cluster-request-log.ts';
import type { Registrar } from '../tunnel/control/registrar.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import type { AgentSessions } from '../tunnel/session/agent-sessions.ts';
import type { SessionMoves } from '../tunnel/session/session-moves.ts';
import type { ClusterMember, ClusterPlane } from './cluster-plane.ts';

/** The dependencies of the data plane. */
export interface DataPlaneParts extends Pick<ModuleEnvironment, 'signingKey' | 'sendOutbound' | 'locate'> {
  registrar: Registrar;
  /** Opens the source of the edges' configuration. @param ports those in the URLs of edges and cloud endpoints. */
  openEdgeConfigSource(ports: PublicPorts): Promise<EdgeConfigSource>;
  /** The captures that are on. */
  captureSource: CaptureSource;
  /** The IP restrictions of accounts. */
  restrictionSource: RestrictionSource;
  /** The secrets that policies read. */
  secretSource: SecretSource;
  newOperationId(): string;
  /** Makes the id of a captured request: `cap_…`. */
  newCaptureId(): string;
  /** The key that signs cookies and bind tokens. */
  tokenKey: Buffer;
  /** The sessions of visitors who sign in. */
  visitorSessions: VisitorSessionSource;
  log: Logger;
  registry: Registry;
  /** The queue in which traffic policies are compiled. */
  policies: CompileQueue;
  /** The part of this node in a cluster; undefined: it serves the tunnels of its own agents only. */
  member?: ClusterMember | undefined;
  /**
   * Whether another process takes the listeners and the agents of this one, at a stop. Left out, none has the listeners, and agents
   * move to other nodes where there are some.
   */
  isReplaced?(): boolean;
  /** Whether other processes accept connections at the same listeners. */
  sharesListeners?: boolean;
  /** With how many connections at each: left out, they are not spread evenly. */
  counts?: ConnectionCounts | undefined;
  /** Where the figures of traffic are stored, and the name of this process there. */
  statistics: Pick<TrafficRecorderOptions, 'store' | 'writer' | 'now' | 'closeMs'>;
  /** The receiver of traffic reports; left out, there is none. */
  reporter?: TrafficReporter;
}

/** What the API needs of the data plane, whether it is in this process or in workers. */
export interface TrafficPlane
  extends Pick<Certificates, 'caFile' | 'expiries' | 'developmentCertificate' | 'operators'> {
  /** The addresses of the listeners by name, as the start prints them. */
  addresses: Record<'agent' | 'http' | 'https' | 'tcp', string>;
  sessions: Pick<AgentSessions, 'roundTrip' | 'announcedRefusals' | 'command'>;
  edges: Pick<LiveEdges, 'breaker'>;
  endpoints: Pick<EndpointRegistry, 'trafficOf'>;
  /** The links to other nodes; undefined where there are none. */
  cluster: ClusterPlane | undefined;
  /** The captured requests of this node, and their replays. */
  captures: Captures;
  clusterCaptures: ClusterCaptures;
  replays: Pick<Replays, 'send'>;
  /** Visits a name at a listener of this node. It never rejects. */
  visitEdge(visit: EdgeVisit): Promise<EdgeVisitResult>;
  /** The last requests of every endpoint, at all nodes. */
  requestLog: ClusterRequestLog;
}

/** The data plane of this process. */
export interface DataPlane extends TrafficPlane {
  sessions: AgentSessions;
  /** How agents move to other nodes at a stop; undefined where there are none. */
  moves: Pick<SessionMoves, 'pause' | 'resume'> | undefined;
  edges: LiveEdges;
  endpoints: EndpointRegistry;
  /** The listeners of this process alone, by which it can visit itself. */
  ownListeners: Record<'http' | 'https', AddressInfo>;
  /** What a connection from this machine to a listener must begin with. */
  localHeader: ProxyProtocolListeners['localHeader'];
  /** Stops the data plane; open requests are closed after `drainMs` milliseconds. It may be called twice. */
  close(drainMs: number): Promise<void>;
}
