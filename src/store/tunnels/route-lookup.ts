// Looks up what this node does not serve itself: which tunnels of which nodes serve a name, a port, an internal name or labels.
// Visitors can request any name, so a lookup must be cheap: results are cached, and lookups that arrive while the database answers
// are sent together in the next batch. The cache is bounded, and no node holds the routes of all names.

import { LRUCache } from 'lru-cache';
import { boundedTo } from '../../runtime/lru-bound.ts';
import type { NodeRef, RouteSource, Routes, RouteTarget, TunnelRoute } from '../../tunnel/control/routes.ts';
import type { NameStatus } from '../../tunnel/endpoints/endpoint-lookup.ts';
import { namesServing } from '../domains/dns-names.ts';
import { findLabelledRoutes, findRemotePorts, findRoutes, type Lookup } from './find-routes.ts';
import type { RegistrarDeps } from './registrar-deps.ts';

/** The most results that are cached, where visitors are forwarded and where they are not. A served name takes about 250 bytes. */
const CACHE_MAX = { forwarding: 100_000, alone: 10_000 };
/** How long a route is cached that fails when it is wrong, and a result that may change while it still works; milliseconds. */
const TTL_MS = 60_000;
const CHANGING_TTL_MS = 1000;
/** The most lookups of one batch. A name also stands for the wildcards above it. */
const BATCH = 100;
/** The most lookups that may wait for an answer. More mean a flood of requests, or a database that does not answer. */
const PENDING_MAX = 10_000;
const NAME_MAX = 253;
/** The kind of the change that announces a TCP port. */
export const TCP_PORT_KIND = 'tcpPort';

interface PendingLookup extends Lookup {
  answer: Promise<Routes>;
  resolve(routes: Routes): void;
  reject(error: unknown): void;
}

/** A cached result. A single route that will not change is stored without its list, as most are. */
type Cached = TunnelRoute | readonly TunnelRoute[] | Absent;
type Absent = Exclude<NameStatus, 'elsewhere'>;

export function createRouteSource({ prisma, node, changes, settings }: RegistrarDeps): RouteSource {
  const cache = new LRUCache<string, Cached>({
    max: settings.routesMax ?? (settings.nodeLink ? CACHE_MAX.forwarding : CACHE_MAX.alone),
  });
  // A node without links uses no route, so none can fail: the result only says what visitors are told.
  const ttlMs = settings.nodeLink ? TTL_MS : CHANGING_TTL_MS;
  /** Names that nobody served. When an endpoint comes, all of them are looked up anew: it may have one of them. */
  const absent = new LRUCache<string, Absent>({ ...boundedTo(CACHE_MAX.alone), ttl: CHANGING_TTL_MS });
  let endpointsCreated = 0;
  changes.listen(({ kind, action }) => {
    if (kind !== 'endpoint' || action !== 'CREATED') return;
    endpointsCreated++;
    absent.clear();
  });
  const keep = (key: string, routes: Routes, createdBefore: number) => {
    const found = compact(routes);
    if (typeof found !== 'string') cache.set(key, found, { ttl: routes.mayChange ? CHANGING_TTL_MS : ttlMs });
    else if (endpointsCreated === createdBefore) absent.set(key, found);
  };
  const lookups = { hits: 0, misses: 0 };
  const pending = new Map<string, PendingLookup>();
  /** The nodes of the routes: one object for each, which many routes share. */
  const nodes = new Map<string, NodeRef>();
  let isRunning = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    while (pending.size > 0) {
      const batch = [...pending].slice(0, BATCH);
      const createdBefore = endpointsCreated;
      try {
        const found = await findRoutes(
          prisma,
          batch.map(([, lookup]) => lookup),
          node.id,
          nodes,
        );
        batch.forEach(([key, lookup], i) => {
          const routes = found[i] as Routes;
          keep(inOnePiece(key), routes, createdBefore);
          lookup.resolve(routes);
        });
      } catch (error) {
        for (const [, lookup] of batch) lookup.reject(error);
      }
      for (const [key] of batch) pending.delete(key);
    }
    isRunning = false;
  }

  return {
    lookups,

    async lookUp(target) {
      const key = keyOf(target);
      const lookup = lookupOf(target);
      if (!lookup) return UNKNOWN;
      const known = cache.get(key) ?? absent.get(key);
      if (known) {
        lookups.hits++;
        return expand(known);
      }
      lookups.misses++;
      const waiting = pending.get(key);
      if (waiting) return waiting.answer;
      if (pending.size >= PENDING_MAX) throw new Error('too many names are being asked for');
      const { promise, ...settle } = deferred();
      pending.set(key, { ...lookup, answer: promise, ...settle });
      if (!isRunning) void runAll();
      return promise;
    },

    forgetRoutes(target) {
      const key = keyOf(target);
      cache.delete(key);
      absent.delete(key);
    },

    lookUpLabels: (accountId, selector) => findLabelledRoutes(prisma, { accountId, selector }, node.id, nodes),

    remotePorts: () => findRemotePorts(prisma, node.id),

    onRemotePortsChange(listener) {
      changes.listen(({ kind }) => {
        if (kind === TCP_PORT_KIND) listener();
      });
      changes.onGap(listener);
    },
  };
}

const UNKNOWN: Routes = { status: 'unknown', routes: [], mayChange: true };

function keyOf(target: RouteTarget): string {
  return 'hostname' in target ? `${target.listener}:${target.hostname}` : target.address;
}

/** @returns undefined for what no name can be. */
function lookupOf(target: RouteTarget): Lookup | undefined {
  if ('address' in target) return { addresses: [target.address], domains: [] };
  const { listener, hostname } = target;
  if (hostname.length > NAME_MAX || hostname.includes('\0')) return undefined;
  const domains = namesServing(hostname);
  return { addresses: domains.map((name) => `${listener}:${name}`), domains };
}

function compact({ status, routes, mayChange }: Routes): Cached {
  if (status !== 'elsewhere') return status;
  return mayChange ? routes : (routes[0] as TunnelRoute);
}

function expand(cached: Cached): Routes {
  if (typeof cached === 'string') return { status: cached, routes: [], mayChange: true };
  const mayChange = Array.isArray(cached);
  return { status: 'elsewhere', routes: mayChange ? cached : [cached as TunnelRoute], mayChange };
}

/** A text that was put together refers to its parts, and takes their memory as well. */
const inOnePiece = (text: string) => Buffer.from(text).toString();

function deferred() {
  let resolve!: (routes: Routes) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<Routes>((onDone, onFailure) => {
    resolve = onDone;
    reject = onFailure;
  });
  return { promise, resolve, reject };
}
