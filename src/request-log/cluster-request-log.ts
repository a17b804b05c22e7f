// The request log over all nodes: each logs the requests that come to it, and whoever is asked answers for all.

import type { ClusterAccess } from '../cluster/cluster-query.ts';
import type { LogEntry } from './log-entry.ts';
import type { LogQuery, LogSlice } from './log-query.ts';
import type { RequestLog } from './request-log.ts';

const NEWEST = 'requestLogNewest';
/** Earlier versions of the gateway do not know these, and count as nodes that do not answer. */
const FROM_OLDEST = 'requestLogFromOldest';
const OF_EACH = 'requestLogOfEach';
/** The most of one answer: with their texts cut, they stay below the longest message between nodes. */
const LIMIT_MAX = 200;

interface LogRequest {
  query: LogQuery;
  limit: number;
  isFromOldest?: boolean;
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
    const readFrom = (isFromOldest: boolean) => async (body: object) => {
      const { query, limit } = body as LogRequest;
      return { entries: (await own?.read(query, { limit: Math.min(limit, LIMIT_MAX), isFromOldest })) ?? [] };
    };
    cluster?.methods.set(NEWEST, readFrom(false));
    cluster?.methods.set(FROM_OLDEST, readFrom(true));
    cluster?.methods.set(OF_EACH, async (body) => {
      const { query, limit, isFromOldest } = body as LogRequest;
      const each = endpointsOfCall(query.endpointIds ?? [], limit);
      const few = { ...query, endpointIds: each[0] ?? [] };
      return (await own?.readEach(few, { limit: Math.min(limit, LIMIT_MAX), isFromOldest })) ?? {};
    });
  }

  /** The newest requests that a query asks for. It waits for other nodes for a second at most. @param limit up to 200. */
  newest(query: LogQuery, limit: number): Promise<GatheredLog> {
    return this.read(query, { limit });
  }

  /** The requests that a query asks for, from one end of the log. It waits likewise. @param slice up to 200. */
  async read(query: LogQuery, slice: LogSlice): Promise<GatheredLog> {
    const asked = this.#cluster?.calls.callAll<{ entries: LogEntry[] }>(slice.isFromOldest ? FROM_OLDEST : NEWEST, {
      query,
      limit: slice.limit,
    } satisfies LogRequest);
    const own = (await this.own?.read(query, slice)) ?? [];
    const others = await asked;
    const theirs = Array.from(others?.answers.values() ?? [], ({ entries }) => entries);
    return { entries: merged([own, ...theirs], slice), isPartial: others ? others.silent.length > 0 : null };
  }

  /**
   * The same of each of these endpoints, by its id: a call to each node for as many of them as fit in an answer.
   * @param slice up to 200 of each.
   */
  async readEach(
    query: LogQuery,
    endpointIds: readonly string[],
    slice: LogSlice,
  ): Promise<ReadonlyMap<string, GatheredLog>> {
    const asked = endpointsOfCall(endpointIds, slice.limit).map((ids) =>
      this.#cluster?.calls.callAll<Record<string, LogEntry[]>>(OF_EACH, {
        query: { ...query, endpointIds: ids },
        ...slice,
      } satisfies LogRequest),
    );
    const own = (await this.own?.readEach({ ...query, endpointIds }, slice)) ?? {};
    const others = (await Promise.all(asked)).filter((answers) => answers !== undefined);
    const found = [own, ...others.flatMap(({ answers }) => [...answers.values()])];
    const isPartial = this.#cluster ? others.some(({ silent }) => silent.length > 0) : null;
    return new Map(
      endpointIds.map((id) => {
        const entries = merged(
          found.map((byId) => byId[id] ?? []),
          slice,
        );
        return [id, { entries, isPartial }];
      }),
    );
  }
}

/** Ids in groups: what each answers fits in one message. */
function endpointsOfCall(ids: readonly string[], limit: number): string[][] {
  const size = Math.max(1, Math.floor(LIMIT_MAX / limit));
  const groups: string[][] = [];
  for (let at = 0; at < ids.length; at += size) groups.push(ids.slice(at, at + size));
  return groups;
}

/** What nodes have found, as if one had. */
function merged(found: readonly LogEntry[][], { limit, isFromOldest }: LogSlice): LogEntry[] {
  const sign = isFromOldest ? -1 : 1;
  return found
    .flat()
    .sort((one, other) => (one.id < other.id ? sign : -sign))
    .slice(0, limit);
}
