// Starts the API: the schema with the dependencies of its resolvers, and the listener.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createAuditObjectLoader } from '../api/audit/audit-objects.ts';
import { createAuditTrail } from '../api/audit/audit-trail.ts';
import type { ApiApp } from '../api/context.ts';
import { readDashboard } from '../api/dashboard/files.ts';
import { HeavyOperations } from '../api/graphql/heavy-operations.ts';
import { ApiKeyUsageWriter } from '../api/http/api-key-usage.ts';
import type { ListenerTls } from '../api/http/listener-tls.ts';
import { openListenerTls } from '../api/http/listener-tls.ts';
import { apiMetrics } from '../api/http/metrics.ts';
import { routes, schema } from '../api/schema.ts';
import { createApi } from '../api/server.ts';
import { createSignInService } from '../api/sign-in/service.ts';
import type { Config } from '../config/config.ts';
import type { CertificateSource } from '../monitoring/node-metrics.ts';
import type { SessionCommands } from '../tunnel/control/session-commands.ts';
import type { TrafficPlane } from './data-plane-types.ts';
import type { EventPlane } from './event-plane.ts';
import type { GatewayOptions } from './gateway-options.ts';
import type { Lifecycle } from './lifecycle.ts';
import { type ReservedAddress, stopperOf } from './managed-server.ts';
import { nodeDirectory } from './node-directory.ts';
import type { Storage } from './storage.ts';
import { trafficState } from './traffic-state.ts';

export interface ApiPlaneParts extends Pick<ApiApp, 'policies' | 'signingKey' | 'now'> {
  storage: Storage;
  nodeId: string;
  sessions: SessionCommands;
  events: EventPlane;
  dataPlane: TrafficPlane;
  address: ReservedAddress;
  log: Logger;
  registry: Registry;
  /** Called with the certificate of the listener, for the metrics. */
  certificates: CertificateSource[];
}

export interface ApiPlane {
  app: ApiApp;
  /** Starts to serve requests. */
  open(): Promise<void>;
}

/** Prepares the API up to its listener. @throws {Error} when the listener's certificate cannot be read. */
export async function startApiPlane(
  parts: Lifecycle,
  config: Config,
  {
    storage,
    nodeId,
    sessions,
    events,
    dataPlane,
    address,
    log,
    registry,
    certificates,
    policies,
    signingKey,
    now,
  }: ApiPlaneParts,
  options: Pick<GatewayOptions, 'dashboard' | 'onlyYoga' | 'writeStallMs'>,
): Promise<ApiPlane> {
  const { prisma, keys, changes, isChangeFeedConnected } = storage;
  const keyUse = await parts.start({
    name: 'record of API key use',
    start: () => new ApiKeyUsageWriter(prisma, now, log),
    stop: (keyUse) => keyUse.flush(),
  });
  const ending = new AbortController();
  const { cluster } = dataPlane;
  const sharing = config.nodeLink && cluster && { cluster, shareMs: config.nodeLink.limitShareMs };
  const app: ApiApp = {
    config,
    prisma,
    keys,
    changes,
    sessions,
    destinationTester: events,
    traffic: trafficState(dataPlane),
    policies,
    signingKey,
    audit: createAuditTrail(createAuditObjectLoader(schema, routes)),
    apiKeyUsage: keyUse,
    signIn: createSignInService(now, sharing),
    heavyOperations: new HeavyOperations(),
    agentEndpoint: () => ({ address: dataPlane.addresses.agent, hosts: config.agentHosts, caFile: dataPlane.caFile }),
    nodes: nodeDirectory(nodeId, dataPlane.cluster, now()),
    nodeCaptures: () => dataPlane,
    now,
    shutdownSignal: ending.signal,
  };
  const tls = config.apiTls && (await startListenerTls(parts, config.apiTls, log));
  if (tls) certificates.push(tls);
  const api = createApi({
    app,
    schema,
    routes,
    log,
    metrics: apiMetrics(registry),
    isChangeFeedConnected,
    dashboard: await readDashboard(options.dashboard),
    tls,
    onlyYoga: options.onlyYoga,
    writeStallMs: options.writeStallMs,
  });
  // While the change feed was disconnected, this node may have missed the revocation of a key.
  changes.onGap(() => api.forgetCallers());
  const stop = stopperOf(api.server);
  return {
    app,
    open: () =>
      parts.start({
        name: 'API listener',
        async start() {
          await address.serve(api.server);
          api.open();
        },
        drain(_, drainMs) {
          ending.abort();
          api.drain();
          return stop(drainMs);
        },
      }),
  };
}

function startListenerTls(parts: Lifecycle, files: NonNullable<Config['apiTls']>, log: Logger): Promise<ListenerTls> {
  return parts.start({
    name: 'certificate of the API',
    start: () => openListenerTls(files, log),
    stop: (tls) => tls.close(),
  });
}
