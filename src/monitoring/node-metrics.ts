// Prometheus metrics of the process: memory, node lease, database connections, certificates.

import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import type { Expiries } from '../edge/tls/certificate-expiry.ts';
import type { Changes } from '../store/changes/changes.ts';
import type { PeerRelay } from '../store/changes/peer-relay.ts';
import type { PrismaClient } from '../store/database/client.ts';
import type { Database } from '../store/database/open-database.ts';
import { storedExpiries } from '../store/domains/certificate-expiries.ts';
import type { NodeLease } from '../store/node-lease.ts';
import { type LabelledValue, metricsFor } from './metrics.ts';

/** How long the expiry dates are cached, unless a certificate was uploaded or assigned to a domain; milliseconds. */
const CERTIFICATES_MS = 60_000;
/** Kinds of objects whose changes make the cached expiry dates stale. */
const CERTIFICATE_KINDS = new Set(['tlsCertificate', 'reservedDomain']);

export interface NodeMetricsSource {
  database: Pick<Database, 'pool'>;
  prisma: PrismaClient;
  changes: Changes;
  /** The messages between nodes; undefined when there can be only one node. */
  peers: Pick<PeerRelay, 'isConnected' | 'statistics'> | undefined;
  node: Pick<NodeLease, 'renewedAt'>;
  /** Whether this node receives the changes of other nodes. */
  isChangeFeedConnected(): boolean;
  /** Length of the lease, in milliseconds. */
  leaseMs: number;
}

let ofProcess: Metric[] | undefined;

/**
 * The metrics of the process itself, made once for all gateways in it: they watch the event loop a hundred times a second, and each
 * collection of garbage, for as long as the process lives.
 */
function processMetrics(): Metric[] {
  if (ofProcess) return ofProcess;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  ofProcess = registry.getMetricsAsArray().flatMap(({ name }) => registry.getSingleMetric(name) ?? []);
  return ofProcess;
}

/** A part of the gateway that presents certificates. */
export type CertificateSource = { expiries(): Expiries };

/**
 * Registers the metrics. To be called before metrics that query the database: otherwise their connections are counted.
 * @param sources of certificates besides the uploaded ones; read at each scrape, so the list may still grow.
 */
export function nodeMetrics(registry: Registry, parts: NodeMetricsSource, sources: readonly CertificateSource[]): void {
  for (const metric of processMetrics()) registry.registerMetric(metric);
  const { database, node, isChangeFeedConnected, leaseMs } = parts;
  const { pool } = database;
  const { gauge, gauges, counter } = metricsFor(registry);

  // The embedded database has them, too: its pool has one connection, and statements queue for it.
  gauges('gateway_database_connections', 'Connections to the database, by their state.', ['state'], () => [
    [{ state: 'in_use' }, pool.totalCount - pool.idleCount],
    [{ state: 'idle' }, pool.idleCount],
  ]);
  gauge('gateway_database_connections_max', 'Connections that there may be (DATABASE_POOL).', () => pool.options.max);
  gauge('gateway_database_waiting', 'Statements that wait for a connection.', () => pool.waitingCount);
  gauge('gateway_database_listening', 'Whether changes of other nodes are heard: 1 or 0.', () =>
    Number(isChangeFeedConnected()),
  );
  gauges('gateway_bus_connected', 'Whether the bus between the nodes is connected: 1 or 0.', ['bus'], () =>
    parts.peers ? [[{ bus: parts.peers.statistics.bus }, Number(parts.peers.isConnected)]] : [],
  );
  const hints = (name: 'sent' | 'received' | 'dropped', help: string) =>
    counter(`gateway_changes_${name}_total`, help, [], () => [[{}, parts.peers?.statistics[name] ?? 0]]);
  hints('sent', 'Changes that were sent to other nodes after their commit.');
  hints('received', 'Changes that were received from other nodes.');
  hints('dropped', 'Changes that could not be sent to other nodes, which then read again.');
  counter('gateway_change_gaps_total', 'How often changes of other nodes may have been missed.', [], () => [
    [{}, parts.changes.gaps],
  ]);
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

  const expiries = cachedExpiries(parts, sources);
  gauges(
    'gateway_certificate_expiry_timestamp_seconds',
    'When certificates end: the gateway’s own, and of each other source the 20 that end first.',
    ['source', 'id'],
    async () =>
      (await expiries()).flatMap(({ first }) =>
        first.map(({ source, id, notAfter }): LabelledValue => [{ source, id }, notAfter / 1000]),
      ),
  );
  gauges('gateway_certificates', 'Certificates that end within 30 days, or have ended.', ['state'], async () => {
    const all = await expiries();
    const sum = (state: 'expiring' | 'expired') => all.reduce((total, each) => total + each[state], 0);
    return [
      [{ state: 'expiring' }, sum('expiring')],
      [{ state: 'expired' }, sum('expired')],
    ];
  });
}

/** Reads all expiry dates, at most once a minute while no certificate changes. */
function cachedExpiries(
  { prisma, changes }: NodeMetricsSource,
  sources: readonly CertificateSource[],
): () => Promise<Expiries[]> {
  let cached: Promise<Expiries[]> | undefined;
  let cachedAt = 0;
  const invalidate = () => {
    cached = undefined;
  };
  changes.onGap(invalidate);
  changes.listen(({ kind }) => CERTIFICATE_KINDS.has(kind) && invalidate());
  const read = async () => [...sources.map((source) => source.expiries()), await storedExpiries(prisma)];
  return () => {
    if (cached && performance.now() - cachedAt < CERTIFICATES_MS) return cached;
    cachedAt = performance.now();
    const reading = read();
    cached = reading;
    // A failure is not cached: the gateway may only be starting.
    reading.catch(() => cached === reading && invalidate());
    return reading;
  };
}

function memoryLimit(): number {
  // Without a limit, Node reports 0 or more than the machine has.
  const limit = process.constrainedMemory() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
