// Looks up names that this node does not serve. Visitors can request any name, so a lookup must be cheap: results are cached for a
// second, and lookups that arrive while the database answers are sent together in the next batch.

import { LRUCache } from 'lru-cache';
import type { Registrar } from '../../tunnel/control/registrar.ts';
import { namesServing } from '../domains/dns-names.ts';
import type { RegistrarDeps } from './registrar-deps.ts';

type LookUpName = Registrar['lookUpName'];
type NameStatus = Awaited<ReturnType<LookUpName>>;

const CACHE_MAX = 10_000;
const CACHE_TTL_MS = 1000;
/** The most names of one batch. Each also stands for the wildcards above it. */
const BATCH = 100;
/** The most names that may wait for an answer. More mean a flood of requests, or a database that does not answer. */
const PENDING_MAX = 10_000;
const NAME_MAX = 253;

interface Lookup {
  listener: 'http' | 'tls';
  hostname: string;
  answer: Promise<NameStatus>;
  resolve(status: NameStatus): void;
  reject(error: unknown): void;
}

export function createNameLookup({ prisma, node }: RegistrarDeps): LookUpName {
  const cache = new LRUCache<string, NameStatus>({ max: CACHE_MAX, ttl: CACHE_TTL_MS });
  /** By listener and name, in the order of the requests. */
  const pending = new Map<string, Lookup>();
  let isRunning = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    while (pending.size > 0) {
      const batch = [...pending].slice(0, BATCH);
      try {
        const found = await queryBatch(batch.map(([, lookup]) => lookup));
        for (const [key, lookup] of batch) {
          const status = found(lookup);
          cache.set(key, status);
          lookup.resolve(status);
        }
      } catch (error) {
        for (const [, lookup] of batch) lookup.reject(error);
      }
      for (const [key] of batch) pending.delete(key);
    }
    isRunning = false;
  }

  async function queryBatch(lookups: Lookup[]): Promise<(lookup: Lookup) => NameStatus> {
    const addresses = [...new Set(lookups.flatMap(addressesOf))];
    const domains = [...new Set(lookups.flatMap(({ hostname }) => namesServing(hostname)))];
    const rows = await prisma.$queryRaw<{ what: 'served' | 'claimed' | 'reserved'; name: string }[]>`
      SELECT 'served' AS what, e.address AS name FROM endpoint e JOIN node n ON n.id = e.node_id
        WHERE e.address = ANY(${addresses}) AND n.id <> ${node.id} AND n.lease_until > now()
      UNION ALL SELECT 'claimed', address FROM claim
        WHERE address = ANY(${addresses}) AND (held_until IS NULL OR held_until > now())
      UNION ALL SELECT 'reserved', domain FROM reserved_domain WHERE domain = ANY(${domains})`;
    const known = new Set(rows.map(({ what, name }) => `${what} ${name}`));
    return (lookup) => {
      const has = (what: string, names: string[]) => names.some((name) => known.has(`${what} ${name}`));
      if (has('served', addressesOf(lookup))) return 'elsewhere';
      const isOffline = has('claimed', addressesOf(lookup)) || has('reserved', namesServing(lookup.hostname));
      return isOffline ? 'offline' : 'unknown';
    };
  }

  return async (listener, hostname) => {
    if (hostname.length > NAME_MAX || hostname.includes('\0')) return 'unknown'; // No name can be so long, or have such a character.
    const key = `${listener}:${hostname}`;
    const known = cache.get(key) ?? pending.get(key)?.answer;
    if (known) return known;
    if (pending.size >= PENDING_MAX) throw new Error('too many names are being asked for');
    const { promise, ...settle } = deferred();
    pending.set(key, { listener, hostname, answer: promise, ...settle });
    if (!isRunning) void runAll();
    return promise;
  };
}

function addressesOf({ listener, hostname }: Lookup): string[] {
  return namesServing(hostname).map((name) => `${listener}:${name}`);
}

function deferred() {
  let resolve!: (status: NameStatus) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<NameStatus>((onDone, onFailure) => {
    resolve = onDone;
    reject = onFailure;
  });
  return { promise, resolve, reject };
}
