// What all nodes know of something with an id: an endpoint, a session, a route. Each node answers from its memory.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClusterCalls } from './cluster-calls.ts';
import type { CallHandler } from './node-link.ts';

/** The most ids of one call. Fifty bytes and an answer of some hundred bytes for each stay below the longest message. */
const IDS_MAX = 1000;

/** The calls between nodes, and the handlers of those that come. */
export interface ClusterAccess {
  calls: ClusterCalls;
  methods: Map<string, CallHandler>;
}

/** What the nodes know of one id. */
export interface Known<T> {
  /** Of each node that knows of it, in no order. */
  values: readonly T[];
  /** Whether a node did not answer in time, which may know more; null where there is no link to any. */
  isPartial: boolean | null;
}

interface QueryRequest {
  ids: string[];
}

interface QueryResponse<T> {
  found: Record<string, T>;
}

interface Batch<T> {
  ids: Set<string>;
  answer: Promise<{ found: readonly Record<string, T>[]; isPartial: boolean }>;
}

export class ClusterQuery<T extends object> {
  readonly #method: string;
  readonly #local: (id: string) => T | undefined;
  readonly #calls: ClusterCalls | undefined;
  #batch: Batch<T> | undefined;

  /**
   * @param method the name of the call, which is registered here.
   * @param local what this node knows of an id.
   * @param cluster undefined where there is no other node.
   */
  constructor(method: string, local: (id: string) => T | undefined, cluster: ClusterAccess | undefined) {
    this.#method = method;
    this.#local = local;
    this.#calls = cluster?.calls;
    cluster?.methods.set(method, async (body): Promise<QueryResponse<T>> => {
      const { ids } = body as QueryRequest;
      const found = ids.slice(0, IDS_MAX).flatMap((id): [string, T][] => {
        const value = local(id);
        return value ? [[id, value]] : [];
      });
      return { found: Object.fromEntries(found) };
    });
  }

  /** Asks all nodes. What is asked in one turn of the event loop, as by the rows of a page, is one call for each node. */
  async ask(id: string): Promise<Known<T>> {
    if (!this.#calls) return { values: this.#own(id), isPartial: null };
    this.#batch ??= this.#newBatch(this.#calls);
    const { ids, answer } = this.#batch;
    ids.add(id);
    if (ids.size >= IDS_MAX) this.#batch = undefined;
    const { found, isPartial } = await answer;
    return { values: [...this.#own(id), ...found.flatMap((values) => values[id] ?? [])], isPartial };
  }

  #own(id: string): T[] {
    const value = this.#local(id);
    return value ? [value] : [];
  }

  #newBatch(calls: ClusterCalls): Batch<T> {
    const ids = new Set<string>();
    const ask = async () => {
      await nextTurn();
      if (this.#batch === batch) this.#batch = undefined;
      const { answers, silent } = await calls.callAll<QueryResponse<T>>(this.#method, {
        ids: [...ids],
      } satisfies QueryRequest);
      return { found: [...answers.values()].map(({ found }) => found), isPartial: silent.length > 0 };
    };
    const batch: Batch<T> = { ids, answer: ask() };
    return batch;
  }
}
