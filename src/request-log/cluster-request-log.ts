// The request log over all nodes: each logs the requests that come to it, and whoever is asked answers for all.

import type { ClusterAccess } from '../cluster/cluster-query.ts';
import type { LogEntry } from './log-entry.ts';
import type { LogQuery } from './log-query.ts';
import type { RequestLog } from './request-log.ts';

const NEWEST = 'requestLogNewest';
/** The most of one answer: with their texts cut, they stay below the longest message between nodes. */
const LIMIT_MAX = 200;

interface NewestRequest {
  query: LogQuery;
  limit: number;
}

/** What was found at all nodes. */
export interface GatheredLog {
  /** The newest first. */
  entries: readonly LogEntry[];
  /** Whether a node did not answer in time; null where there is no link to any. */
  isPartial: boolean | null;
}

export class ClusterRequestLog {
  /** The log of this node alone; undefined where it logs none. */
  readonly own: RequestLog | undefined;
  readonly #cluster: ClusterAccess | undefined;

  /** @param cluster undefined where there is no other node. */
  constructor(own: RequestLog | undefined, cluster: ClusterAccess | undefined) {
    this.own = own;
    this.#cluster = cluster;
    cluster?.methods.set(NEWEST, async (body) => {
      const { query, limit } = body as NewestRequest;
      return { entries: (await own?.newest(query, Math.min(limit, LIMIT_MAX))) ?? [] };
    });
  }

  /** The newest requests that a query asks for. It waits for other nodes for a second at most. @param limit up to 200. */
  async newest(query: LogQuery, limit: number): Promise<GatheredLog> {
    const asked = this.#cluster?.calls.callAll<{ entries: LogEntry[] }>(NEWEST, {
      query,
      limit,
    } satisfies NewestRequest);
    const own = (await this.own?.newest(query, limit)) ?? [];
    const others = await asked;
    const theirs = Array.from(others?.answers.values() ?? [], ({ entries }) => entries);
    const all = [own, ...theirs].flat();
    return {
      entries: all.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, limit),
      isPartial: others ? others.silent.length > 0 : null,
    };
  }
}
