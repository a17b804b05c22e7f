// What the processes of one gateway ask each other: workers, which carry visitors and agents, and the control process, which has the
// API and the database.

import type { RequestCapture } from '../capture/captured-request.ts';
import type { EdgeVisit, EdgeVisitResult } from '../capture/edge-visit.ts';
import type { Replays } from '../capture/replay.ts';
import type { ReplayEdits } from '../capture/replay-head.ts';
import type { StoredCapture } from '../capture/stored-capture.ts';
import type { NodeIdentity } from '../cluster/node-identity.ts';
import type { EdgeConfigSource, EdgeConfigs } from '../edge/edges/edge-config.ts';
import type { TrafficBucket } from '../edge/metrics/traffic-stats-store.ts';
import type { AccountRestriction } from '../edge/restrictions/restriction-source.ts';
import type { AccountSecrets } from '../edge/vaults/secret-source.ts';
import type { TrafficSource, TrafficStore } from '../events/traffic/store.ts';
import type { VisitorSessions } from '../http/visitor-sessions.ts';
import type { OpenedSession, Registrar } from '../tunnel/control/registrar.ts';
import type { NodeRef } from '../tunnel/control/routes.ts';

/** The calls of the registrar that go to the control process as they are. */
export const REGISTRAR_CALLS = [
  'authenticate',
  'grant',
  'takenTunnels',
  'sessionOpened',
  'sessionClosed',
  'bind',
  'bindLabels',
  'bindRefused',
  'tunnelClosed',
  'leaveTunnels',
  'tunnelChanged',
  'lookUp',
  'forgetRoutes',
  'lookUpLabels',
  'remotePorts',
] as const satisfies (keyof Registrar)[];

export type RegistrarCalls = Pick<Registrar, (typeof REGISTRAR_CALLS)[number]>;

/** What a worker says of itself when it connects to the control process: it may have worked for an earlier one. */
export interface WorkerState {
  nodeId: string;
  /** Its sessions, by id, with where their agents connected. */
  sessions: ReadonlyMap<string, OpenedSession['ingress']>;
  tunnelIds: string[];
}

export interface Attached {
  /** The key that signs cookies and bind tokens. */
  tokenKey: Buffer;
  /** Whether the worker's sessions are gone from the database: its lease had ended. */
  wasDeleted: boolean;
}

/** The addresses of a worker's listeners, as `DataPlane` has them. */
export type ServedAddresses = Record<'agent' | 'http' | 'https' | 'tcp', string>;

/** What workers call. */
export interface ControlCalls extends RegistrarCalls, Pick<EdgeConfigSource, 'findChallenge' | 'challengeHolder'> {
  /** Comes first. */
  attach(state: WorkerState): Promise<Attached>;
  /** All listeners are open. */
  serving(addresses: ServedAddresses): void;
  issueIdentity(): Promise<NodeIdentity>;
  announceAddress(address: string): Promise<void>;
  otherNodes(): Promise<readonly NodeRef[]>;
  /**
   * Comes before edges are loaded, with the ports in the URLs of edges and cloud endpoints.
   * @param publicHttpPort left out by a worker of a version before.
   */
  openEdges(publicHttpsPort: number, publicHttpPort?: number): Promise<void>;
  loadEdges(ids: readonly string[] | null): Promise<Omit<EdgeConfigs, 'applied'>>;
  /** The edges that were loaded last are live. */
  edgesApplied(): void;
  loadSecrets(accountIds: readonly string[] | null): Promise<AccountSecrets[]>;
  loadRestrictions(accountIds: readonly string[] | null): Promise<AccountRestriction[]>;
  loadCaptures(ids: readonly string[] | null): Promise<StoredCapture[]>;
  trafficSources(): Promise<TrafficSource[]>;
  /** The worker has ended its sessions, and stops. */
  release(): Promise<void>;
  appendTraffic(...args: Parameters<TrafficStore['append']>): Promise<void>;
  appendFigures(bucket: TrafficBucket): Promise<boolean>;
  findVisitorSession: VisitorSessions['find'];
  beginSignIn: VisitorSessions['begin'];
  finishSignIn: VisitorSessions['finish'];
  endVisitorSession: VisitorSessions['end'];
  endedVisitorSessions: VisitorSessions['ended'];
}

/** What the control process calls. */
export interface WorkerCalls {
  grantChanged(credentialId: string | null): void;
  sessionReplaced(sessionId: string): void;
  leaseRevived(): void;
  remotePortsChanged(): void;
  /** @returns when the change is live. */
  edgesChanged(ids: readonly string[] | null): Promise<void>;
  /** @returns when the change is followed. */
  secretsChanged(accountIds: readonly string[] | null): Promise<void>;
  /** @returns when the change acts. */
  restrictionsChanged(accountIds: readonly string[] | null): Promise<void>;
  /** @returns when the change is followed. */
  capturesChanged(ids: readonly string[] | null): Promise<void>;
  /** @returns when the subscriptions to traffic events are loaded. */
  trafficSourcesChanged(): Promise<void>;
  /** @param ids undefined: it is not known which. */
  visitorSessionsEnded(ids: readonly string[] | undefined): void;
  replay(captured: RequestCapture, edits: ReplayEdits): ReturnType<Replays['send']>;
  visitEdge(visit: EdgeVisit): Promise<EdgeVisitResult>;
  /** Stop: take no new visitors and agents, and finish what is under way within so many milliseconds. The worker ends then. */
  stop(drainMs: number): void;
}
