// Starts the parts of a gateway in order, each with the parts before it, and stops them in the opposite order.

import { Registry } from 'prom-client';
import type { ApiApp } from '../api/context.ts';
import { sessionCommandsByLink } from '../cluster/session-commands-by-link.ts';
import type { Config } from '../config/config.ts';
import { metricsFor } from '../monitoring/metrics.ts';
import type { CertificateSource } from '../monitoring/node-metrics.ts';
import { nodeMetrics } from '../monitoring/node-metrics.ts';
import { hostsOfPolicies } from '../net/reachable-hosts.ts';
import { CompileQueue } from '../policy/compile/compile-queue.ts';
import { SigningKeys } from '../policy/webhooks/signing-keys.ts';
import { sessionCommands } from '../store/changes/session-commands.ts';
import { type FirstSecrets, firstStart } from '../store/first-start.ts';
import { createFirstAdminLink } from '../store/sign-in/links.ts';
import { createRegistrar, type NodeRegistrar } from '../store/tunnels/registrar.ts';
import { type AdminListener, openAdminListener } from './admin-listener.ts';
import { alertPlane } from './alert-plane.ts';
import { startApiPlane } from './api-plane.ts';
import { startCertificatePlane } from './certificates/certificate-plane.ts';
import type { TrafficPlane } from './data-plane-types.ts';
import { type EventPlane, eventPlane } from './event-plane.ts';
import type { GatewayOptions } from './gateway-options.ts';
import { keepSites, startHousekeeping, startSessionCheck } from './housekeeping.ts';
import { type Lifecycle, startAll } from './lifecycle.ts';
import { reserveApiAddress } from './managed-server.ts';
import { startNameServer } from './name-server.ts';
import { startGeoDatabases } from './policies/geo.ts';
import { startOutbound } from './policies/outbound.ts';
import { visitorSignIn } from './policies/visitor-sign-in.ts';
import { startNode, startStorage } from './storage.ts';
import { startTrafficPlane } from './traffic-plane.ts';
import { startFigures } from './traffic-statistics.ts';
import { deleteEarlierNodes } from './workers/worker-host.ts';

export type { GatewayOptions };

/** The routes that a control process keeps: no visitor comes to it. */
const CONTROL_ROUTES_MAX = 1000;
/** How long API calls under way have when another control process takes over, in milliseconds: others wait meanwhile. */
const HAND_OVER_DRAIN_MS = 1000;

export interface Gateway {
  /** The addresses of the listeners by name, as the start prints them: `api=http://127.0.0.1:4000`. */
  addresses: Record<'api' | 'admin', string> & TrafficPlane['addresses'];
  /** The certificate file of the development authority, for agents and visitors to trust. */
  caFile: string;
  /** The secrets of the first start; null on every other. */
  first: FirstSecrets | null;
  /** The token of the link by which an admin sets the first password; null when an admin has a password. */
  signInToken: string | null;
  app: ApiApp;
  registrar: NodeRegistrar;
  events: EventPlane;
  /** @returns why the gateway cannot serve now, as a sentence; null when it can. */
  reasonNotReady(): Promise<string | null>;
  /**
   * Stops: takes no new requests, and finishes those under way within `DRAIN_MS`. It never rejects.
   * @param isHandedOver the workers go on, as another control process takes over.
   */
  close(isHandedOver?: boolean): Promise<void>;
}

/**
 * Starts everything the configuration asks for. The last parts to open are the admin listener and the API, when visitors
 * and agents can already connect.
 * @throws an error that explains itself when the database, its key or an address cannot be used. Nothing is left running
 * then.
 */
export async function startGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  return startAll(options.log, (parts) => startParts(parts, config, options));
}

async function startParts(parts: Lifecycle, config: Config, options: GatewayOptions): Promise<Gateway> {
  const { log, now = Date.now, eventRequestMs: requestMs, registry = new Registry() } = options;
  const storage = await startStorage(parts, config, options);
  const { database, prisma, keys, changes, peers, isChangeFeedConnected } = storage;

  // The objects in events have URIs, so the port of the API has to be known before anything happens.
  const address = await parts.start({
    name: 'address of the API',
    start: () => options.address ?? reserveApiAddress(config),
    stop: (address) => address.release(),
  });
  const baseUrl = () => config.publicApiUrl ?? address.url;

  const { localDirectory } = config.nodeLink ?? {};
  if (localDirectory !== undefined) await deleteEarlierNodes(localDirectory, { config, storage, baseUrl });
  const node = await startNode(parts, config, storage, { baseUrl, log });
  const { sessionHold: holdMs, baseDomain } = config;
  await keepSites({ prisma, changes, baseUrl, log }, { baseDomain, nodeId: node.id, holdMs });
  const certificates: CertificateSource[] = [];
  const measured = { database, prisma, changes, peers, node, isChangeFeedConnected, leaseMs: config.nodeLeaseMs };
  nodeMetrics(registry, measured, certificates);

  const events = await parts.start({
    name: 'events',
    start: () => eventPlane(config, { prisma, changes, keys, nodeId: node.id, log, registry, now, requestMs }),
    stop: (events) => events.close(),
  });
  await events.start();
  const alerts = await parts.start({
    name: 'alerts',
    start: () => {
      const { alertPauseMs: pauseMs } = options;
      return alertPlane(config, { prisma, changes, keys, nodeId: node.id, baseUrl, log, registry, now, pauseMs });
    },
    stop: (alerts) => alerts.close(),
  });
  await alerts.start();
  await parts.start({
    name: 'housekeeping',
    start: () =>
      startHousekeeping(
        { prisma, changes, baseUrl, log, now },
        {
          ...{ node, holdMs, baseDomain },
          auditDays: config.auditDays,
          agentKeepDays: config.agentKeepDays,
          sweepMs: peers || localDirectory !== undefined ? config.nodeLeaseMs / 3 : undefined,
        },
      ),
    stop: (stop) => stop(),
  });

  await startFigures(parts, config, { prisma, changes, holder: node.id, now, log, registry });

  const policies = new CompileQueue();
  const reach = { hosts: hostsOfPolicies(config), standIn: options.signerHosts };
  const signingKeys = new SigningKeys(reach, { now: () => performance.now(), time: now });
  const signingKey = signingKeys.find.bind(signingKeys);
  const sendOutbound = await startOutbound(parts, reach);
  const locate = await startGeoDatabases(parts, config, log);
  // No visitor comes to a control process.
  const routesMax = localDirectory === undefined ? undefined : CONTROL_ROUTES_MAX;
  const settings = { ...config, routesMax };
  const registrar = createRegistrar({ prisma, changes, keys, node, settings, baseUrl, now });
  if (peers)
    await parts.start({
      name: 'check of sessions',
      start: () => startSessionCheck(registrar.endMissingSessions, log),
      stop: (timer) => clearInterval(timer),
    });
  const { providerHosts } = options;
  const visitorSessions = await parts.start({
    name: "visitors' sign-in",
    start: () => visitorSignIn(config, { storage, baseUrl, log, now, providerHosts }),
    stop: (signIn) => signIn.close(),
  });
  const traffic = { config, storage, node, registrar, baseUrl, reporter: events.reporter, log, registry };
  const { dataPlane, handOver } = await startTrafficPlane(parts, {
    ...traffic,
    ...{ policies, signingKey, sendOutbound, locate, visitorSessions, certificates: options.certificates, now },
  });
  certificates.push(dataPlane);

  await startNameServer(parts, config, { prisma, log, registry });
  // It looks up names that the name server answers for, and an answer that did not come is not asked for again soon.
  await startCertificatePlane(parts, config, { storage, nodeId: node.id, baseUrl, log, registry, now });
  const sessions = sessionCommandsByLink(
    dataPlane.cluster,
    registrar.isOwn,
    sessionCommands({ isOwn: registrar.isOwn, local: dataPlane.sessions, peers }),
  );
  const api = await startApiPlane(
    parts,
    config,
    {
      storage,
      nodeId: node.id,
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
    },
    options,
  );
  const reasonNotReady = () => parts.reasonNotReady();
  metricsFor(registry).gauge('gateway_ready', 'Whether /readyz is 200: 1 or 0.', async () =>
    Number((await reasonNotReady()) === null),
  );
  const { url: adminUrl } =
    options.admin ??
    (await parts.start<AdminListener>({
      name: 'admin listener',
      start: () =>
        openAdminListener(config, {
          readiness: async () => ({ reason: await reasonNotReady() }),
          metrics: () => registry.metrics(),
        }),
      stop: ({ stop }) => stop(),
    }));
  // This comes after everything that can fail: the secrets are shown only once, and a failed start must not use that up.
  const first = await prisma.$transaction((tx) => firstStart(tx, keys, config.initialApiKey));
  const signInToken = await createFirstAdminLink(prisma, keys, now());
  await api.open();
  parts.serve();

  return {
    addresses: { api: address.url, admin: adminUrl, ...dataPlane.addresses },
    caFile: dataPlane.caFile,
    first,
    signInToken,
    app: api.app,
    registrar,
    events,
    reasonNotReady,
    async close(isHandedOver = false) {
      if (isHandedOver) handOver();
      else await parts.announceStop(config.drainAnnounceMs);
      await parts.stop(isHandedOver ? Math.min(config.drainMs, HAND_OVER_DRAIN_MS) : config.drainMs);
    },
  };
}
