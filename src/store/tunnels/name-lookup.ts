// Where a name is that this node does not serve. Visitors may ask for any name, so that what is asked must cost little:
// answers are remembered for a second, and all that is asked while the database is answering is asked next, together.

import { LRUCache } from 'lru-cache';
import type { Registrar } from '../../tunnel/control/registrar.ts';
import { namesServing } from '../domains/dns-names.ts';
import type { RegistrarDeps } from './registrar-deps.ts';

type WhereIs = Registrar['lookUpName'];
type Where = Awaited<ReturnType<WhereIs>>;

const REMEMBERED_MAX = 10_000;
const REMEMBERED_MS = 1000;
/** Names of one question, each of which stands for all wildcards above it. */
const BATCH = 100;
/** Names that may wait for an answer; more are a flood, or the database is away. */
const OPEN_MAX = 10_000;
const NAME_MAX = 253;

interface Question {
  listener: 'http' | 'tls';
  hostname: string;
  answer: Promise<Where>;
  resolve(where: Where): void;
  reject(error: unknown): void;
}

export function createNameLookup({ prisma, node }: RegistrarDeps): WhereIs {
  const remembered = new LRUCache<string, Where>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS });
  /** By what is asked, in the order of asking. */
  const open = new Map<string, Question>();
  let isAsking = false;

  async function askAll(): Promise<void> {
    isAsking = true;
    while (open.size > 0) {
      const batch = [...open].slice(0, BATCH);
      try {
        const found = await ask(batch.map(([, question]) => question));
        for (const [key, question] of batch) {
          const where = found(question);
          remembered.set(key, where);
          question.resolve(where);
        }
      } catch (error) {
        for (const [, question] of batch) question.reject(error);
      }
      for (const [key] of batch) open.delete(key);
    }
    isAsking = false;
  }

  async function ask(questions: Question[]): Promise<(question: Question) => Where> {
    const addresses = [...new Set(questions.flatMap(addressesOf))];
    const domains = [...new Set(questions.flatMap(({ hostname }) => namesServing(hostname)))];
    const rows = await prisma.$queryRaw<{ what: 'served' | 'claimed' | 'reserved'; name: string }[]>`
      SELECT 'served' AS what, e.address AS name FROM endpoint e JOIN node n ON n.id = e.node_id
        WHERE e.address = ANY(${addresses}) AND n.id <> ${node.id} AND n.lease_until > now()
      UNION ALL SELECT 'claimed', address FROM claim
        WHERE address = ANY(${addresses}) AND (held_until IS NULL OR held_until > now())
      UNION ALL SELECT 'reserved', domain FROM reserved_domain WHERE domain = ANY(${domains})`;
    const known = new Set(rows.map(({ what, name }) => `${what} ${name}`));
    return (question) => {
      const has = (what: string, names: string[]) => names.some((name) => known.has(`${what} ${name}`));
      if (has('served', addressesOf(question))) return 'elsewhere';
      const isOffline = has('claimed', addressesOf(question)) || has('reserved', namesServing(question.hostname));
      return isOffline ? 'offline' : 'unknown';
    };
  }

  return async (listener, hostname) => {
    if (hostname.length > NAME_MAX || hostname.includes('\0')) return 'unknown'; // Nobody can have it.
    const key = `${listener}:${hostname}`;
    const known = remembered.get(key) ?? open.get(key)?.answer;
    if (known) return known;
    if (open.size >= OPEN_MAX) throw new Error('too many names are being asked for');
    const { promise, ...settle } = deferred();
    open.set(key, { listener, hostname, answer: promise, ...settle });
    if (!isAsking) void askAll();
    return promise;
  };
}

function addressesOf({ listener, hostname }: Question): string[] {
  return namesServing(hostname).map((name) => `${listener}:${name}`);
}

function deferred() {
  let resolve!: (where: Where) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<Where>((onDone, onFailure) => {
    resolve = onDone;
    reject = onFailure;
  });
  return { promise, resolve, reject };
}
