// Builds every room and joins them.

import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { auditTrail } from '../api/audit.ts';
import { auditObjects } from '../api/audit-objects.ts';
import type { App } from '../api/context.ts';
import { readDashboard } from '../api/dashboard/files.ts';
import { describeFailure } from '../api/failure.ts';
import { HeavyWork } from '../api/heavy-work.ts';
import { KeyUse } from '../api/key-use.ts';
import { openListenerTls } from '../api/listener-tls.ts';
import { apiMetrics } from '../api/metrics.ts';
import { routes, schema } from '../api/schema.ts';
import { type ApiOptions, createApi } from '../api/server.ts';
import { signInDesk } from '../api/sign-in/desk.ts';
import { trafficOf } from '../api/traffic.ts';
import type { Config } from '../config/config.ts';
import { createAdminServer, type Phase } from '../monitoring/admin-server.ts';
import { nodeMetrics } from '../monitoring/node-metrics.ts';
import { PolicyCompiler } from '../policy/compile/compile-queue.ts';
import type { StandIn } from '../policy/keys/fetch-bytes.ts';
import { SigningKeys } from '../policy/webhooks/signing-keys.ts';
import { Changes } from '../store/changes/changes.ts';
import { Notifications } from '../store/changes/notifications.ts';
import { sessionCommands } from '../store/changes/session-commands.ts';
import { openClient } from '../store/database/client.ts';
import { migrate } from '../store/database/migrations.ts';
import { openDatabase } from '../store/database/open-database.ts';
import { edgeConfigSource } from '../store/edges/edge-config-source.ts';
import { syncAllEdgeEndpoints } from '../store/edges/edge-endpoints.ts';
import { sealPolicies } from '../store/edges/seal-policies.ts';
import { type FirstSecrets, firstStart } from '../store/first-start.ts';
import { newId } from '../store/ids.ts';
import { checkServerKey, loadKeys } from '../store/keys/server-key.ts';
import { joinNodes } from '../store/nodes/nodes.ts';
import { signInLink } from '../store/sign-in/links.ts';
import { createRegistrar, type NodeRegistrar } from '../store/tunnels/registrar.ts';
import { type DataPlane, startDataPlane } from './data-plane.ts';
import { type EventPlane, eventPlane } from './event-plane.ts';
import { startHousekeeping } from './housekeeping.ts';
import { renewLease } from './lease.ts';
import { manageServer } from './managed-server.ts';
import { Shutdown } from './shutdown.ts';

/** How long the embedded database may take to write everything out; milliseconds. A server needs no such time. */
const EMBEDDED_CLOSE_MS = 10_000;

export interface GatewayOptions extends Pick<ApiOptions, 'onlyYoga' | 'writeStallMs'> {
  log: Logger;
  /** Where the migrations are. */
  migrations: string;
  /** Where the dashboard was built to, if it was. */
  dashboard?: string;
  /** Told when the gateway cannot go on; the process has to end. */
  onFatal(text: string): void;
  /** For metrics; one of its own when left out. */
  registry?: Registry;
  /** The wall clock. */
  now?: () => number;
  /** How long a request to an event destination may take; milliseconds. Left out: the usual. */
  eventRequestMs?: number;
  /** In the place of the hosts that publish what webhooks are checked with. Left out: they themselves. */
  signerHosts?: StandIn;
  /** Hears of every statement. */
  onQuery?: (statement: string) => void;
}

export interface Gateway {
  /** Listeners by name, as `ready` prints them: `api=http://127.0.0.1:4000`. */
  addresses: Record<'api' | 'admin', string> & DataPlane['addresses'];
  /** The certificate of the development authority, which agents and visitors are to trust. */
  caFile: string;
  /** The secrets of the first start; null on every other. */
  first: FirstSecrets | null;
  /** What a link by which an admin sets a password ends in; null when one has a password. */
  signInToken: string | null;
  app: App;
  registrar: NodeRegistrar;
  events: EventPlane;
  /** Stops: no new requests, those under way are finished within the time the configuration gives. */
  close(): Promise<void>;
}

/**
 * Starts everything the configuration asks for.
 * @throws what explains itself, when the database, its key or an address cannot be used. Nothing is left running then.
 */
export async function startGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const shutdown = new Shutdown(options.log);
  try {
    return await build(config, options, shutdown);
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

async function build(config: Config, options: GatewayOptions, shutdown: Shutdown): Promise<Gateway> {
  const { log, onFatal, now = Date.now, eventRequestMs: requestMs } = options;
  const database = await openDatabase(config, { onFatal, onNotice: (text) => log.warn(text) });
  const closeMs = database.kind === 'embedded' ? EMBEDDED_CLOSE_MS : undefined;
  shutdown.add('close the database', () => database.close(), closeMs);
  const applied = await migrate(database.pool, options.migrations);
  if (applied.length > 0) log.info({ migrations: applied }, 'migrations applied');
  const keys = await loadKeys(config);
  const prisma = openClient(database.pool, options.onQuery);
  shutdown.add('close Prisma', () => prisma.$disconnect());
  const keyUse = new KeyUse(prisma, now, log);
  shutdown.add('write the use of API keys', () => keyUse.write());
  await prisma.$transaction((tx) => checkServerKey(tx, keys));
  await sealPolicies(prisma, keys, (policies) => log.info({ policies }, 'the secrets of traffic policies were sealed'));

  const changes = new Changes();
  // Nodes filter out what they said themselves by an id of the process, which need not be the node's.
  const notifications =
    config.databaseUrl === undefined
      ? undefined
      : new Notifications(config.databaseUrl, newId('node'), changes, () => api.forget(), log);
  const isChangeFeedConnected = () => notifications?.listening ?? true; // A single process has no other nodes.
  let apiAddress = `${config.apiTls ? 'https' : 'http'}://${config.host}:${config.apiPort}`; // Of port 0 the real one is not known yet.
  const baseUrl = () => config.publicApiUrl ?? apiAddress;
  const node = await joinNodes(
    { prisma, changes, baseUrl, urgent: database.urgent },
    {
      leaseMs: config.nodeLeaseMs,
      holdMs: config.sessionHold,
      dataDir: config.dataDir,
      isAlone: config.databaseUrl === undefined,
    },
  );
  shutdown.add('release the lease', () => node.release());
  shutdown.add('end renewals', renewLease(node, config.nodeLeaseMs, log));
  const ending = new AbortController();
  const registry = options.registry ?? new Registry();
  const measured = { database, prisma, changes, node, isChangeFeedConnected, leaseMs: config.nodeLeaseMs };
  nodeMetrics(registry, measured, () => [dataPlane, tls]);
  const registrar = createRegistrar({ prisma, changes, keys, node, settings: config, baseUrl });
  const sessions = sessionCommands({
    isOwn: registrar.isOwn,
    local: { command: (id, command) => dataPlane.sessions.command(id, command) },
    peers: notifications,
  });
  const events = eventPlane(config, { prisma, changes, keys, nodeId: node.id, log, registry, now, requestMs });
  shutdown.add('close events', () => events.close());
  const reach = { isPrivateAllowed: config.policyFetch === 'any', standIn: options.signerHosts };
  const signingKeys = new SigningKeys(reach, { now: () => performance.now(), time: now });
  const app: App = {
    config,
    prisma,
    keys,
    changes,
    sessions,
    delivery: events,
    traffic: trafficOf(() => dataPlane),
    policies: new PolicyCompiler(),
    signingKey: signingKeys.find.bind(signingKeys),
    audit: auditTrail(auditObjects(schema, routes)),
    keyUse,
    desk: signInDesk(now),
    heavyWork: new HeavyWork(),
    agentDoor: () => ({ address: dataPlane.addresses.agent, hosts: config.agentHosts, caFile: dataPlane.caFile }),
    capture: () => dataPlane,
    now,
    ending: ending.signal,
  };
  const tls = config.apiTls && (await openListenerTls(config.apiTls, log));
  shutdown.add('close the certificate of the API', () => tls?.close());
  const api = createApi({
    app,
    schema,
    routes,
    log,
    metrics: apiMetrics(registry),
    hearing: isChangeFeedConnected,
    dashboard: await readDashboard(options.dashboard),
    tls,
    onlyYoga: options.onlyYoga,
    writeStallMs: options.writeStallMs,
  });
  shutdown.add('end LISTEN', () => notifications?.close());
  await notifications?.start();
  let phase: Phase = 'starting';
  const admin = createAdminServer(registry, {
    database: async () => void (await prisma.$queryRaw`SELECT 1`),
    phase: () => phase,
    isChangeFeedConnected,
    isDiskFull: database.isFull,
  });
  const endHousekeeping = startHousekeeping(
    { prisma, changes, baseUrl, log, now },
    { nodeId: node.id, holdMs: config.sessionHold, sweepMs: notifications && config.nodeLeaseMs / 3 },
  );
  shutdown.add('end housekeeping', endHousekeeping);

  const listeners = { api: manageServer(api.server), admin: manageServer(admin) };
  shutdown.add('close the API listener', () => listeners.api.stop(0));
  shutdown.add('close the admin listener', () => listeners.admin.stop(0));
  const own = {
    api: await listeners.api.listen(config.apiPort, config.host),
    admin: await listeners.admin.listen(config.adminPort, config.host),
  };
  apiAddress = own.api;
  await events.start();
  const dataPlane = await startDataPlane(config, {
    registrar,
    async openSiteSource(publicHttpsPort) {
      await syncAllEdgeEndpoints({ prisma, changes, baseUrl }, { region: config.region, publicHttpsPort });
      const onFailure = (id: string, error: unknown) =>
        log.error({ id, err: describeFailure(error) }, 'cannot be read');
      return edgeConfigSource({ prisma, changes, keys, onFailure });
    },
    reporter: events.reporter,
    newOperationId: () => newId('op'),
    newCaptureId: () => newId('cap'),
    tokenKey: keys.tokenKey,
    log,
    registry,
    policies: app.policies,
    signingKey: app.signingKey,
  });
  shutdown.add('close the data plane', () => dataPlane.close(0));
  // Last: a start that fails must not use up the one time when the secrets are shown.
  const first = await prisma.$transaction((tx) => firstStart(tx, keys, config.initialApiKey));
  const signInToken = await signInLink(prisma, keys, now());
  api.open();
  phase = 'serving';

  return {
    addresses: { ...own, ...dataPlane.addresses },
    caFile: dataPlane.caFile,
    first,
    signInToken,
    app,
    registrar,
    events,
    async close() {
      phase = 'stopping';
      if (config.drainAnnounceMs > 0) await wait(config.drainAnnounceMs);
      ending.abort();
      api.drain();
      await Promise.all([listeners.api.stop(config.drainMs), dataPlane.close(config.drainMs)]);
      await shutdown.run();
    },
  };
}
