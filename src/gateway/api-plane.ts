// Starts the API: the schema with the dependencies of its resolvers, and the listener.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { readAgentFiles } from '../api/agent-files/files.ts';
import { createAuditObjectLoader } from '../api/audit/audit-objects.ts';
import { createAuditTrail } from '../api/audit/audit-trail.ts';
import { BulkJobRunner } from '../api/bulk/bulk-job-runner.ts';
import type { ApiApp } from '../api/context.ts';
import { readDashboard } from '../api/dashboard/files.ts';
import type { AlertTester } from '../api/dependencies.ts';
import { HeavyOperations } from '../api/graphql/heavy-operations.ts';
import { mistakesIn, readRegisteredDocuments } from '../api/graphql/registered-documents.ts';
import { ApiKeyUsageWriter } from '../api/http/api-key-usage.ts';
import { confirmHandler } from '../api/http/confirm-recipient.ts';
import type { ListenerTls } from '../api/http/listener-tls.ts';
import { openListenerTls } from '../api/http/listener-tls.ts';
import { apiMetrics } from '../api/http/metrics.ts';
import { routes, schema } from '../api/schema.ts';
import { createApi } from '../api/server.ts';
import { createSignInService } from '../api/sign-in/service.ts';
import { createSingleSignOn } from '../api/sign-in/single-sign-on.ts';
import type { Config } from '../config/config.ts';
import type { CertificateSource } from '../monitoring/node-metrics.ts';
import { ReachableHosts } from '../net/reachable-hosts.ts';
import { confirmRecipient, openInvitation } from '../store/alerts/recipients.ts';
import { BulkJobStore } from '../store/bulk/bulk-jobs.ts';
import { hasOwnCertificate } from '../store/certificates/own-certificates.ts';
import { ChangeHistory } from '../store/changes/change-history.ts';
import { restrictionSource } from '../store/restrictions/restriction-source.ts';
import { usesSharedCallback } from '../store/visitors/shared-callbacks.ts';
import type { SessionCommands } from '../tunnel/control/session-commands.ts';
import { callbackHandler } from '../visitor-sign-in/callback.ts';
import { OpenidProvider } from '../visitor-sign-in/openid-provider.ts';
import { openObtainedTls } from './certificates/obtained-listener-tls.ts';
import type { TrafficPlane } from './data-plane-types.ts';
import type { EventPlane } from './event-plane.ts';
import type { GatewayOptions } from './gateway-options.ts';
import type { Lifecycle } from './lifecycle.ts';
import { type ReservedAddress, stopperOf } from './managed-server.ts';
import { nodeDirectory } from './node-directory.ts';
import { startRestrictions } from './policies/live-restrictions.ts';
import type { Storage } from './storage.ts';
import { trafficState } from './traffic-state.ts';

export interface ApiPlaneParts extends Pick<ApiApp, 'policies' | 'signingKey' | 'sendOutbound' | 'locate' | 'now'> {
  storage: Storage;
  nodeId: string;
  sessions: SessionCommands;
  events: EventPlane;
  alerts: AlertTester;
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
    alerts,
    dataPlane,
    address,
    log,
    registry,
    certificates,
    policies,
    signingKey,
    sendOutbound,
    locate,
    now,
  }: ApiPlaneParts,
  options: Pick<GatewayOptions, 'agentPackage' | 'dashboard' | 'docsRenderer' | 'onlyYoga' | 'writeStallMs'>,
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
  // The operator chose the provider, which may be in a private network.
  const provider = new OpenidProvider({
    hosts: new ReachableHosts([], true),
    time: now,
    monotonic: () => performance.now(),
  });
  const singleSignOn = config.singleSignOn && createSingleSignOn(config.singleSignOn, { keys, provider, now });
  const restrictions = await startRestrictions(parts, restrictionSource({ prisma, changes }), log);
  const app: ApiApp = {
    config,
    prisma,
    keys,
    changes,
    changeHistory: new ChangeHistory(changes, now),
    sessions,
    alertTester: alerts,
    destinationTester: events,
    traffic: trafficState(dataPlane),
    policies,
    signingKey,
    sendOutbound,
    locate,
    audit: createAuditTrail(createAuditObjectLoader(schema, routes), { days: config.auditDays, now, log }),
    apiKeyUsage: keyUse,
    restrictions,
    signIn: createSignInService(now, sharing, singleSignOn),
    heavyOperations: new HeavyOperations(),
    agentEndpoint: () => ({
      address: dataPlane.addresses.agent,
      hosts: config.agentHosts,
      caFile: dataPlane.caFile,
      hasOwnCertificate: async (name) =>
        dataPlane.operators(name) !== undefined || hasOwnCertificate(prisma, name, now()),
    }),
    nodes: nodeDirectory(nodeId, dataPlane.cluster, now()),
    nodeCaptures: () => dataPlane,
    requestLog: dataPlane.requestLog,
    now,
    shutdownSignal: ending.signal,
  };
  const jobs = await parts.start({
    name: 'bulk jobs',
    start: () => {
      const store = new BulkJobStore({ prisma, changes, nodeId, now });
      const monotonic = () => performance.now();
      return new BulkJobRunner({ app, store, log, monotonic });
    },
    stop: (jobs) => jobs.close(),
  });
  const tls = config.apiTls && (await startListenerTls(parts, config, { storage, dataPlane, log }));
  if (tls) certificates.push(tls);
  const dashboard = await readDashboard(options.dashboard);
  const registered = await registeredDocuments(config.persistedDocumentsDir, log);
  const api = createApi({
    app,
    schema,
    routes,
    log,
    metrics: apiMetrics(registry),
    isChangeFeedConnected,
    dashboard,
    documents: new Map([...registered, ...dashboard.operations]),
    docsRenderer: options.docsRenderer,
    agentFiles: await readAgentFiles(options.agentPackage),
    callback: callbackHandler({ keys, log, now, usesSharedCallback: (pair) => usesSharedCallback(prisma, pair) }),
    confirmRecipient: confirmHandler({
      log,
      addressOf: (token) => openInvitation(keys, token, now())?.address,
      async confirm(token) {
        const invitation = openInvitation(keys, token, now());
        return invitation !== undefined && confirmRecipient({ prisma, changes }, invitation);
      },
    }),
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
          jobs.start();
        },
        drain(_, drainMs) {
          ending.abort();
          api.drain();
          return stop(drainMs);
        },
      }),
  };
}

function startListenerTls(
  parts: Lifecycle,
  { apiTls, publicApiUrl }: Config,
  { storage, dataPlane, log }: Pick<ApiPlaneParts, 'storage' | 'dataPlane' | 'log'>,
): Promise<ListenerTls> {
  const host = publicApiUrl === undefined ? 'localhost' : new URL(publicApiUrl).hostname;
  return parts.start({
    name: 'certificate of the API',
    start: () =>
      typeof apiTls === 'object'
        ? openListenerTls(apiTls, log)
        : openObtainedTls(host, storage, () => dataPlane.developmentCertificate([host]), log),
    stop: (tls) => tls.close(),
  });
}

/** The documents of the operator. @throws {RegisteredDocumentsError} */
async function registeredDocuments(directory: string | undefined, log: Logger): Promise<Map<string, string>> {
  if (directory === undefined) return new Map();
  const documents = await readRegisteredDocuments(directory);
  void warnOfMistakes(documents, log); // A start does not wait for it.
  return documents;
}

/** Those that an upgrade has left behind are answered with their mistakes. */
async function warnOfMistakes(documents: ReadonlyMap<string, string>, log: Logger): Promise<void> {
  for await (const [digest, mistake] of mistakesIn(documents, schema))
    log.warn(
      { documentId: `sha256:${digest}`, mistake },
      'a document of PERSISTED_DOCUMENTS_DIR does not fit the schema',
    );
}
