// The data plane of a control process: workers carry visitors and agents, and this process reaches what they know over links, as one
// of several nodes that has no agents of its own.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { Captures } from '../../capture/captures.ts';
import { ClusterCaptures } from '../../capture/cluster-captures.ts';
import type { NodeLinkSettings } from '../../cluster/settings.ts';
import type { Config } from '../../config/config.ts';
import type { ServedAddresses } from '../../control/calls.ts';
import { moduleDescriptors } from '../../edge/modules/index.ts';
import { type Certificates, openCertificates } from '../../edge/tls/certificates.ts';
import { tunnelModules } from '../../edge/tunnel-modules.ts';
import { clusterMetrics } from '../../monitoring/cluster-metrics.ts';
import type { CompileQueue } from '../../policy/compile/compile-queue.ts';
import { ClusterRequestLog } from '../../request-log/cluster-request-log.ts';
import type { RouteSource } from '../../tunnel/control/routes.ts';
import { EndpointRegistry } from '../../tunnel/endpoints/endpoint-registry.ts';
import { type ClusterMember, startClusterPlane } from '../cluster-plane.ts';
import type { DataPlaneParts, TrafficPlane } from '../data-plane-types.ts';
import { moduleEnvironment } from '../forwarding-services.ts';
import type { Lifecycle } from '../lifecycle.ts';

export interface RemoteDataPlaneParts extends Pick<DataPlaneParts, 'signingKey' | 'sendOutbound' | 'newCaptureId'> {
  routes: RouteSource;
  member: ClusterMember;
  nodeLink: NodeLinkSettings;
  log: Logger;
  registry: Registry;
  policies: CompileQueue;
  /** The certificates, where they are opened already. */
  certificates: Promise<Certificates> | undefined;
  /** Serves workers from now on. @returns the addresses of their listeners, once there are some. */
  openWorkers(): Promise<ServedAddresses>;
  /** The wall clock, in milliseconds. */
  wallClock(): number;
  /** Replays a captured request at one of the workers. */
  replay: TrafficPlane['replays']['send'];
  /** Visits a name at one of the workers. */
  visitEdge: TrafficPlane['visitEdge'];
}

/** Opens the certificates of a control process: it makes the development authority, and tells when certificates expire. */
export function openControlCertificates(config: Config, log: Logger): Promise<Certificates> {
  return openCertificates({ ...config, log, uploaded: () => undefined });
}

/** Starts it: the workers can connect then, and the first of them serves. */
export async function startRemoteDataPlane(
  parts: Lifecycle,
  config: Config,
  {
    certificates: opened,
    routes,
    member,
    nodeLink,
    log,
    registry,
    policies,
    signingKey,
    sendOutbound,
    newCaptureId,
    wallClock,
    openWorkers,
    replay,
    visitEdge,
  }: RemoteDataPlaneParts,
): Promise<TrafficPlane> {
  // It makes the development authority, which all processes use.
  const certificates = await parts.start<Certificates>({
    name: 'certificates',
    start: () => opened ?? openControlCertificates(config, log),
    stop: (certificates) => certificates.close(),
  });
  const now = () => performance.now();
  const endpoints = new EndpointRegistry(now, config.ownNames);
  const captures = await parts.start({
    name: 'captures',
    start: () =>
      new Captures({ newId: newCaptureId, time: wallClock, endpoints, holdMs: config.sessionHold, reachesNodes: true }),
    stop: (captures) => captures.close(),
  });
  const environment = moduleEnvironment(config, {
    ...{ endpoints, signingKey, sendOutbound, log, now, secrets: { of: () => new Map() } }, // It has no visitors.
    lookup: () => cluster.lookup,
    shared: () => cluster.shared,
  });
  const modules = tunnelModules(environment, policies, moduleDescriptors);
  const cluster = await startClusterPlane(parts, nodeLink, { member, endpoints, routes, modules, log, now });
  await cluster.open();
  clusterMetrics(registry, cluster, routes.lookups);
  const addresses = await openWorkers();
  return {
    addresses,
    caFile: certificates.caFile,
    expiries: certificates.expiries,
    developmentCertificate: certificates.developmentCertificate,
    operators: certificates.operators,
    sessions: { roundTrip: () => undefined, announcedRefusals: () => undefined, command: async () => 'unreachable' },
    edges: { breaker: () => undefined },
    endpoints,
    cluster,
    captures,
    clusterCaptures: new ClusterCaptures(captures, cluster),
    replays: { send: replay },
    visitEdge,
    requestLog: new ClusterRequestLog(undefined, cluster),
  };
}
