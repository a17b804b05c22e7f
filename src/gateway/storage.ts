// Starts the storage: the database, the keys to its secrets, and the lease of this node.

import type { Logger } from 'pino';
import { LocalSockets } from '../cluster/local-sockets.ts';
import type { Config } from '../config/config.ts';
import { moduleDescriptors } from '../edge/modules/index.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { Changes } from '../store/changes/changes.ts';
import { openPeers } from '../store/changes/open-peers.ts';
import type { PeerRelay } from '../store/changes/peer-relay.ts';
import { openClient, type PrismaClient } from '../store/database/client.ts';
import { knownMigrations, migrate } from '../store/database/migrations.ts';
import { type Database, openDatabase, withDirectPool } from '../store/database/open-database.ts';
import { sealPolicies } from '../store/edges/seal-policies.ts';
import { newId } from '../store/ids.ts';
import type { Keys } from '../store/keys/keys.ts';
import type { NodeLease } from '../store/node-lease.ts';
import { takeNodeId } from '../store/nodes/node-id.ts';
import { joinNodes } from '../store/nodes/nodes.ts';
import { findOlderNodes } from '../store/nodes/older-nodes.ts';
import { checkServerKey, loadKeys } from '../store/server-key/server-key.ts';
import { renameAddresses } from '../store/tunnels/reserved-addresses.ts';
import type { GatewayOptions } from './gateway-options.ts';
import { type Lifecycle, withTimeout } from './lifecycle.ts';

/** The time in which the embedded database must write its data at a stop; milliseconds. A database server needs none. */
const EMBEDDED_CLOSE_MS = 10_000;
/** The time after which a database that does not respond counts as unavailable; milliseconds. */
const PING_TIMEOUT_MS = 1000;

/** The time until the renewal of the lease is tried again after a failure; milliseconds. */
const RENEWAL_RETRY_MS = 250;

/** The storage of a gateway. */
export interface Storage {
  database: Database;
  prisma: PrismaClient;
  /** The last migration that this code knows. */
  migration: string;
  keys: Keys;
  changes: Changes;
  /** The messages between nodes; undefined when there can be only one node. */
  peers: PeerRelay | undefined;
  /** Whether this node receives the changes of other nodes. */
  isChangeFeedConnected(): boolean;
}

/** Starts the storage. @throws {Error} with a message for people when the database or its key cannot be used. */
export async function startStorage(parts: Lifecycle, config: Config, options: GatewayOptions): Promise<Storage> {
  const { log, onFatal, migrations, onQuery } = options;
  const onNotice = (text: string) => log.warn(text);
  const database = await parts.start({
    name: 'database',
    start: () => options.database ?? openDatabase(config, { onFatal, onNotice }),
    stop: (database) => database.close(),
    stopTimeoutMs: config.databaseUrl === undefined ? EMBEDDED_CLOSE_MS : undefined,
  });
  const applied = await withDirectPool(config, database.pool, (pool) =>
    migrate(pool, migrations, {
      findOlderNodes: async (on, migration) =>
        findOlderNodes(on, migration, {
          workers: await aliveWorkers(config),
          hasLeases: config.databaseUrl !== undefined,
        }),
    }),
  );
  if (applied.length > 0) log.info({ migrations: applied }, 'migrations applied');
  const keys = await loadKeys(config);
  const prisma = await parts.start({
    name: 'Prisma client',
    start: () => openClient(database.pool, onQuery),
    ready: (prisma) => reasonDatabaseNotReady(database, prisma),
    stop: (prisma) => prisma.$disconnect(),
  });
  await prisma.$transaction((tx) => checkServerKey(tx, keys, moduleDescriptors));
  await renameAddresses(prisma, config.baseDomain);
  await sealPolicies(prisma, keys, (policies) => log.info({ policies }, 'secrets of traffic policies encrypted'));

  const changes = new Changes();
  const peers = await parts.start({
    name: 'change feed',
    start: () => openPeers(config, { prisma, changes, keys, log }),
    ready: (peers) => peers?.reasonNotReady ?? null,
    stop: (peers) => peers?.close(),
  });
  return {
    database,
    prisma,
    migration: (await knownMigrations(migrations)).at(-1) ?? '',
    keys,
    changes,
    peers,
    isChangeFeedConnected: () => peers?.isConnected ?? true, // A single node has nobody to listen to.
  };
}

/** The ids of the workers of this gateway that are alive, of whichever version. */
async function aliveWorkers({ nodeLink }: Config): Promise<string[]> {
  if (nodeLink?.localDirectory === undefined) return [];
  const sockets = new LocalSockets(nodeLink.localDirectory);
  return (await sockets.split(sockets.nodeIds())).alive;
}

async function reasonDatabaseNotReady(database: Database, prisma: PrismaClient): Promise<string | null> {
  const check = async () => {
    if (await database.isFull()) return 'The disk below the database is full: nothing can be written.';
    await prisma.$queryRaw`SELECT 1`;
    return null;
  };
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
  }, PING_TIMEOUT_MS);
  try {
    return await withTimeout(PING_TIMEOUT_MS, check);
  } catch {
    return isLate ? 'The database does not answer.' : 'The database cannot be reached.';
  } finally {
    clearTimeout(late);
  }
}

/** Acquires the lease of this node, and renews it three times within its duration. */
export async function startNode(
  parts: Lifecycle,
  config: Config,
  { database, prisma, migration, changes }: Storage,
  { baseUrl, log }: { baseUrl: () => string; log: Logger },
): Promise<NodeLease> {
  const isOnlyNode = config.databaseUrl === undefined && config.workers === 1;
  const node = await parts.start({
    name: 'node lease',
    start: () =>
      joinNodes(
        { prisma, changes, baseUrl, urgent: database.urgent },
        {
          leaseMs: config.nodeLeaseMs,
          migration,
          holdMs: config.sessionHold,
          nodeId: isOnlyNode ? { id: newId('node'), release: () => undefined } : takeNodeId(config.dataDir),
          isOnlyNode,
        },
      ),
    stop: (node) => node.release(),
  });
  node.onLapse(() => log.warn('other nodes have deleted this node, as its lease had ended: agents have to reconnect'));
  node.onRevival(() => log.warn('node lease had ended, and is renewed: sessions go on'));
  await parts.start({
    name: 'lease renewal',
    start: () => startRenewal(node, config.nodeLeaseMs, log),
    stop: (stop) => stop(),
  });
  return node;
}

/** Renews the lease three times in its length, and sooner after a failure. @returns a function that stops it. */
export function startRenewal(node: NodeLease, leaseMs: number, log: Logger): () => void {
  const intervalMs = leaseMs / 3;
  let hasFailed = false;
  let isStopped = false;
  let timer: NodeJS.Timeout;
  const renew = async () => {
    try {
      await node.renew();
      if (hasFailed) log.info('node lease is renewed again');
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log.warn({ err: describeFailure(error) }, 'node lease could not be renewed; trying again');
      hasFailed = true;
    }
    if (!isStopped) schedule();
  };
  const schedule = () => {
    timer = setTimeout(renew, hasFailed ? Math.min(intervalMs, RENEWAL_RETRY_MS) : intervalMs).unref();
  };
  schedule();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
