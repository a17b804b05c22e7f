// A worker, as the control process serves it: with a lease and a registrar of its own, as every node has.

import type { Logger } from 'pino';
import { issueNodeIdentity } from '../../cluster/node-identity.ts';
import type { Config } from '../../config/config.ts';
import type { CallChannel, Calls } from '../../control/call-channel.ts';
import {
  type Attached,
  type ControlCalls,
  REGISTRAR_CALLS,
  type ServedAddresses,
  type WorkerCalls,
  type WorkerState,
} from '../../control/calls.ts';
import { moduleDescriptors } from '../../edge/modules/index.ts';
import type { VisitorSessionSource } from '../../http/visitor-sessions.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { captureSource } from '../../store/captures/capture-source.ts';
import { ScopedChanges } from '../../store/changes/scoped-changes.ts';
import { edgeConfigSource } from '../../store/edges/edge-config-source.ts';
import { syncAllEdgeEndpoints } from '../../store/edges/edge-endpoints.ts';
import { trafficStore } from '../../store/events/traffic-store.ts';
import type { NodeLease } from '../../store/node-lease.ts';
import { loadClusterAuthority } from '../../store/nodes/cluster-authority.ts';
import { findOtherNodes } from '../../store/nodes/node-source.ts';
import { adoptNode } from '../../store/nodes/nodes.ts';
import { restrictionSource } from '../../store/restrictions/restriction-source.ts';
import { secretSource } from '../../store/secrets/secret-source.ts';
import { trafficStatsStore } from '../../store/traffic-stats/traffic-stats-store.ts';
import { createRegistrar, type NodeRegistrar } from '../../store/tunnels/registrar.ts';
import { followEndedAppSessions } from '../../store/visitors/app-session-rows.ts';
import { startSessionCheck } from '../housekeeping.ts';
import { type Storage, startRenewal } from '../storage.ts';

/** The routes that are kept for each worker, which keeps some of them itself. Memory for them is reserved. */
const ROUTES_MAX = 20_000;

export interface WorkerDeps {
  config: Config;
  storage: Storage;
  baseUrl(): string;
  /** The sessions of visitors who sign in. */
  visitorSessions: VisitorSessionSource;
  log: Logger;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** Called when the listeners of the worker are open. */
  onServing(worker: AttachedWorker, addresses: ServedAddresses): void;
}

export interface AttachedWorker {
  readonly nodeId: string;
  readonly lease: NodeLease;
  readonly registrar: NodeRegistrar;
  readonly channel: CallChannel<WorkerCalls>;
  /** Ends what this process does for the worker. Its lease is kept. */
  end(): void;
}

/**
 * Makes the functions that a worker calls.
 * @param onAttached called when it has said who it is.
 * @returns them, and what ends all that this process does for the worker.
 */
export function controlCalls(
  deps: WorkerDeps,
  channel: () => CallChannel<WorkerCalls>,
  onAttached: (worker: AttachedWorker) => void,
): { own: Calls; end(): void } {
  const { config, storage, visitorSessions, baseUrl, log, now, onServing } = deps;
  const { prisma, migration, keys } = storage;
  const changes = new ScopedChanges(storage.changes);
  let worker: AttachedWorker | undefined;
  const attached = () => {
    if (!worker) throw new Error('the first call is attach');
    return worker;
  };
  const onFailure = (id: string, error: unknown) => log.error({ id, err: describeFailure(error) }, 'cannot be read');
  const scope = { baseDomain: config.baseDomain, managesCertificates: config.acmeTermsAgreed };
  const edges = edgeConfigSource({ prisma, changes, keys, descriptors: moduleDescriptors, scope, onFailure });
  const secrets = secretSource({ prisma, changes, keys, onFailure });
  const restrictions = restrictionSource({ prisma, changes });
  const captures = captureSource({ prisma, changes, now });
  const traffic = trafficStore({ prisma, changes });
  const figures = trafficStatsStore(prisma);
  let edgesApplied = () => {};

  /** Tells the worker of something. One that is lost asks again when it is back. */
  const tell = <M extends keyof WorkerCalls>(method: M, ...args: Parameters<WorkerCalls[M]>) =>
    channel()
      .call(method, ...(args as never))
      .then(() => undefined)
      .catch(() => undefined);

  const attach = async (state: WorkerState): Promise<Attached> => {
    const { nodeId, sessions, tunnelIds } = state;
    const { nodeLeaseMs: leaseMs, sessionHold: holdMs } = config;
    const parts = { prisma, changes, baseUrl, urgent: storage.database.urgent };
    const { lease, wasDeleted } = await adoptNode(parts, { nodeId, leaseMs, migration, holdMs });
    const registrar = createRegistrar({
      ...{ prisma, changes, keys, node: lease, settings: { ...config, routesMax: ROUTES_MAX }, baseUrl },
      now: Date.now,
      adopted: wasDeleted ? new Map() : sessions,
    });
    registrar.onSessionReplaced((id) => void tell('sessionReplaced', id));
    registrar.onGrantChange((id) => void tell('grantChanged', id));
    registrar.onLeaseRevived(() => void tell('leaseRevived'));
    registrar.onRemotePortsChange(() => void tell('remotePortsChanged'));
    edges.onChange((ids) => tell('edgesChanged', ids));
    secrets.onChange((accountIds) => tell('secretsChanged', accountIds));
    restrictions.onChange((accountIds) => tell('restrictionsChanged', accountIds));
    captures.onChange((ids) => tell('capturesChanged', ids));
    changes.follow(async (changed) => {
      if (changed.some(({ kind }) => kind === 'eventSubscription')) await tell('trafficSourcesChanged');
    });
    followEndedAppSessions(changes, (ids) => tell('visitorSessionsEnded', ids));
    traffic.onSourcesChange(() => void tell('trafficSourcesChanged'));
    if (!wasDeleted) await registrar.reconcile(tunnelIds);
    const stopRenewal = startRenewal(lease, leaseMs, log);
    const check = startSessionCheck(registrar.endMissingSessions, log);
    worker = {
      nodeId,
      lease,
      registrar,
      channel: channel(),
      end() {
        stopRenewal();
        clearInterval(check);
        changes.end();
      },
    };
    onAttached(worker);
    return { tokenKey: keys.tokenKey, wasDeleted };
  };

  const registrarCalls = Object.fromEntries(
    REGISTRAR_CALLS.map((method) => [
      method,
      (...args: unknown[]) => (attached().registrar[method] as (...args: unknown[]) => unknown)(...args),
    ]),
  );
  const calls: Omit<ControlCalls, (typeof REGISTRAR_CALLS)[number]> = {
    attach,
    serving: (addresses) => onServing(attached(), addresses),
    issueIdentity: async () => issueNodeIdentity(await loadClusterAuthority(prisma, keys), attached().nodeId),
    announceAddress: (address) => attached().lease.announceAddress(address),
    otherNodes: () => findOtherNodes(prisma, attached().nodeId, config.nodeLink?.localDirectory),
    openEdges: (publicHttpsPort, publicHttpPort = 80) =>
      syncAllEdgeEndpoints({ prisma, changes, baseUrl }, { region: config.region, publicHttpPort, publicHttpsPort }),
    async loadEdges(ids) {
      const { applied, ...loaded } = await edges.load(ids);
      edgesApplied = applied;
      return loaded;
    },
    edgesApplied: () => edgesApplied(),
    loadSecrets: (accountIds) => secrets.load(accountIds),
    loadRestrictions: (accountIds) => restrictions.load(accountIds),
    loadCaptures: (ids) => captures.load(ids),
    findChallenge: (request) => edges.findChallenge(request),
    challengeHolder: (name) => edges.challengeHolder(name),
    release() {
      attached().end();
      return attached().lease.release();
    },
    trafficSources: () => traffic.sources(),
    appendTraffic: (...args) => traffic.append(...args),
    findVisitorSession: (...args) => visitorSessions.find(...args),
    beginSignIn: (...args) => visitorSessions.begin(...args),
    finishSignIn: (...args) => visitorSessions.finish(...args),
    endVisitorSession: (...args) => visitorSessions.end(...args),
    endedVisitorSessions: (ids) => visitorSessions.ended(ids),
    appendFigures: (bucket) => figures.append(bucket),
  };
  return { own: { ...registrarCalls, ...calls }, end: () => (worker ? worker.end() : changes.end()) };
}
