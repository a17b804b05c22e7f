// Starts what carries traffic: in this process, or in workers that this process serves.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { issueNodeIdentity } from '../cluster/node-identity.ts';
import type { Config } from '../config/config.ts';
import { moduleDescriptors } from '../edge/modules/index.ts';
import type { TrafficReporter } from '../edge/reports/traffic-reports.ts';
import type { CompileQueue } from '../policy/compile/compile-queue.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { captureSource } from '../store/captures/capture-source.ts';
import { edgeConfigSource } from '../store/edges/edge-config-source.ts';
import { syncAllEdgeEndpoints } from '../store/edges/edge-endpoints.ts';
import { newId } from '../store/ids.ts';
import type { NodeLease } from '../store/node-lease.ts';
import { loadClusterAuthority } from '../store/nodes/cluster-authority.ts';
import { createNodeSource } from '../store/nodes/node-source.ts';
import { restrictionSource } from '../store/restrictions/restriction-source.ts';
import { secretSource } from '../store/secrets/secret-source.ts';
import { trafficStatsStore } from '../store/traffic-stats/traffic-stats-store.ts';
import type { NodeRegistrar } from '../store/tunnels/registrar.ts';
import type { ClusterMember } from './cluster-plane.ts';
import { startDataPlane } from './data-plane.ts';
import type { DataPlaneParts, TrafficPlane } from './data-plane-types.ts';
import type { GatewayOptions } from './gateway-options.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Storage } from './storage.ts';
import { startRemoteDataPlane } from './workers/remote-data-plane.ts';
import { WorkerHost } from './workers/worker-host.ts';

export interface TrafficPlaneParts
  extends Pick<DataPlaneParts, 'signingKey' | 'sendOutbound' | 'locate' | 'visitorSessions'> {
  config: Config;
  storage: Storage;
  node: NodeLease;
  registrar: NodeRegistrar;
  baseUrl(): string;
  reporter: TrafficReporter;
  log: Logger;
  registry: Registry;
  policies: CompileQueue;
  certificates: GatewayOptions['certificates'];
  /** The wall clock, in milliseconds. */
  now(): number;
}

export interface StartedTrafficPlane {
  dataPlane: TrafficPlane;
  /** Lets the workers go on at the next stop. */
  handOver(): void;
}

export function startTrafficPlane(parts: Lifecycle, options: TrafficPlaneParts): Promise<StartedTrafficPlane> {
  const { localDirectory } = options.config.nodeLink ?? {};
  return localDirectory === undefined ? startHere(parts, options) : startInWorkers(parts, localDirectory, options);
}

async function startHere(parts: Lifecycle, options: TrafficPlaneParts): Promise<StartedTrafficPlane> {
  const {
    config,
    storage,
    registrar,
    baseUrl,
    reporter,
    log,
    registry,
    policies,
    signingKey,
    sendOutbound,
    locate,
    now,
  } = options;
  const { prisma, changes, keys } = storage;
  const onFailure = (id: string, error: unknown) => log.error({ id, err: describeFailure(error) }, 'cannot be read');
  const dataPlane = await parts.start({
    name: 'data plane',
    start: () =>
      startDataPlane(config, {
        registrar,
        async openEdgeConfigSource(ports) {
          await syncAllEdgeEndpoints({ prisma, changes, baseUrl }, { region: config.region, ...ports });
          const scope = { baseDomain: config.baseDomain, managesCertificates: config.acmeTermsAgreed };
          return edgeConfigSource({ prisma, changes, keys, descriptors: moduleDescriptors, scope, onFailure });
        },
        secretSource: secretSource({ prisma, changes, keys, onFailure }),
        restrictionSource: restrictionSource({ prisma, changes }),
        captureSource: captureSource({ prisma, changes, now }),
        reporter,
        statistics: { store: trafficStatsStore(prisma), writer: newId('node'), now },
        newOperationId: () => newId('op'),
        newCaptureId: () => newId('cap'),
        tokenKey: keys.tokenKey,
        log,
        registry,
        policies,
        signingKey,
        sendOutbound,
        locate,
        visitorSessions: options.visitorSessions,
        member: config.nodeLink && memberOf(options),
      }),
    drain: (dataPlane, drainMs) => dataPlane.close(drainMs),
  });
  return { dataPlane, handOver: () => {} };
}

async function startInWorkers(
  parts: Lifecycle,
  directory: string,
  options: TrafficPlaneParts,
): Promise<StartedTrafficPlane> {
  const { config, storage, node, registrar, baseUrl, log, registry, policies, signingKey, sendOutbound, now } = options;
  const { nodeLink } = config;
  const { visitorSessions } = options;
  if (!nodeLink) throw new Error('workers reach each other over links');
  const host = await parts.start({
    name: 'connections of workers',
    start: () => new WorkerHost(directory, { config, storage, visitorSessions, baseUrl, log, now, nodeId: node.id }),
    ready: (host) => host.reasonNotReady,
    drain: (host, drainMs) => host.stopWorkers(drainMs),
    stop: (host) => host.close(),
  });
  const dataPlane = await startRemoteDataPlane(parts, config, {
    routes: registrar,
    member: memberOf(options),
    nodeLink,
    ...{ log, registry, policies, signingKey, sendOutbound, certificates: options.certificates },
    newCaptureId: () => newId('cap'),
    wallClock: now,
    async openWorkers() {
      await host.open();
      return host.addresses;
    },
    replay: (captured, edits) => host.replay(captured, edits),
    visitEdge: (visit) => host.visitEdge(visit),
  });
  return { dataPlane, handOver: () => host.handOver() };
}

function memberOf({ config, storage: { prisma, keys }, node }: TrafficPlaneParts): ClusterMember {
  return {
    nodeId: node.id,
    issueIdentity: async () => issueNodeIdentity(await loadClusterAuthority(prisma, keys), node.id),
    announceAddress: node.announceAddress,
    ...createNodeSource(prisma, node.id, config.nodeLink?.localDirectory),
  };
}
