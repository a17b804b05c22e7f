// What this process is made of, for Prometheus: its memory, its lease, its way to the database, the certificates it shows.

import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import type { Expiries } from './edge/tls/expiries.ts';
import { metricsOf, type Row } from './metrics.ts';
import { uploadedExpiries } from './store/certificate-expiries.ts';
import type { Changes } from './store/changes.ts';
import type { PrismaClient } from './store/client.ts';
import type { Database } from './store/database.ts';
import type { NodeLease } from './store/node-lease.ts';

/** How long certificates are not looked at again, unless one was uploaded or put on a domain; milliseconds. */
const CERTIFICATES_MS = 60_000;
/** Changes after which other certificates may be shown. */
const CERTIFICATE_KINDS = new Set(['tlsCertificate', 'reservedDomain']);

export interface MeasuredNode {
  database: Pick<Database, 'pool'>;
  prisma: PrismaClient;
  changes: Changes;
  node: Pick<NodeLease, 'renewedAt'>;
  /** Whether it hears what other nodes change. */
  hearing(): boolean;
  /** How long its lease is; milliseconds. */
  leaseMs: number;
}

/** Tells of certificates that are shown. */
type Source = Pick<{ expiries(): Expiries }, 'expiries'> | undefined;

/**
 * Registers the metrics. To be called before others that ask the database, whose connections it would count otherwise.
 * @param sources of certificates, besides those that were uploaded; may throw as long as they are not open.
 */
export function nodeMetrics(registry: Registry, parts: MeasuredNode, sources: () => Source[]): void {
  collectDefaultMetrics({ register: registry });
  const { database, node, hearing, leaseMs } = parts;
  const { pool } = database;
  const { gauge, gauges } = metricsOf(registry);

  // Of the embedded database, too: a pool of one connection, at which statements queue.
  gauges('gateway_database_connections', 'Connections to the database, by their state.', ['state'], () => [
    [{ state: 'in_use' }, pool.totalCount - pool.idleCount],
    [{ state: 'idle' }, pool.idleCount],
  ]);
  gauge('gateway_database_connections_max', 'Connections that there may be (DATABASE_POOL).', () => pool.options.max);
  gauge('gateway_database_waiting', 'Statements that wait for a connection.', () => pool.waitingCount);
  gauge('gateway_database_listening', 'Whether changes of other nodes are heard (LISTEN): 1 or 0.', () =>
    Number(hearing()),
  );
  gauge(
    'gateway_node_lease_age_seconds',
    'Time since the lease was renewed.',
    () => (performance.now() - node.renewedAt) / 1000,
  );
  gauge('gateway_node_lease_duration_seconds', 'How long a lease is (NODE_LEASE_MS).', () => leaseMs / 1000);

  gauge(
    'gateway_memory_limit_bytes',
    'Memory that the process may have, by its cgroup or of the machine.',
    memoryLimit,
  );
  gauge(
    'gateway_heap_limit_bytes',
    'What the heap of JavaScript may grow to.',
    () => getHeapStatistics().heap_size_limit,
  );

  const look = certificates(parts, sources);
  gauges(
    'gateway_certificate_expiry_timestamp_seconds',
    'When certificates end: the gateway’s own, and of each other source the 20 that end first.',
    ['source', 'id'],
    async () =>
      (await look()).flatMap(({ first }) =>
        first.map(({ source, id, notAfter }): Row => [{ source, id }, notAfter / 1000]),
      ),
  );
  gauges('gateway_certificates', 'Certificates that end within 30 days, or have ended.', ['state'], async () => {
    const all = await look();
    const sum = (state: 'expiring' | 'expired') => all.reduce((total, expiries) => total + expiries[state], 0);
    return [
      [{ state: 'expiring' }, sum('expiring')],
      [{ state: 'expired' }, sum('expired')],
    ];
  });
}

/** Looks at all certificates, at most once a minute as long as they stay the same. */
function certificates({ prisma, changes }: MeasuredNode, sources: () => Source[]): () => Promise<Expiries[]> {
  let known: Promise<Expiries[]> | undefined;
  let knownAt = 0;
  const forget = () => {
    known = undefined;
  };
  changes.onGap(forget);
  changes.listen(({ kind }) => CERTIFICATE_KINDS.has(kind) && forget());
  const look = async () => [...sources().flatMap((source) => source?.expiries() ?? []), await uploadedExpiries(prisma)];
  return () => {
    if (known && performance.now() - knownAt < CERTIFICATES_MS) return known;
    knownAt = performance.now();
    const looked = look();
    known = looked;
    // Asked again at once when it failed: the gateway may only be starting.
    looked.catch(() => known === looked && forget());
    return looked;
  };
}

function memoryLimit(): number {
  // 0, or more than there is, where nothing limits it.
  const limit = process.constrainedMemory() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
