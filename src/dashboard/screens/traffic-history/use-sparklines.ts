// The last hour of the visible rows of a list: one request for all of them, and on scrolling only for those that are new.

import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { execute } from '../../data/client/client.ts';
import { now } from '../../data/clock.ts';
import { refreshOn } from '../../data/live/refresh.ts';
import { type SparklinePointsFragment, Sparklines } from '../../generated/operations.ts';

const HOUR_MS = 3_600_000;
/** A point is a minute. */
const POLL_MS = 30_000;
/** The limit of `nodes` in the API. */
const MAX_IDS = 100;
/** Further histories are forgotten when there are so many. */
const MAX_KEPT = 1000;

export interface SparklineData {
  /** Requests, or connections of TCP and TLS. */
  counts: readonly number[];
  errors: readonly number[];
  fetchedAt: number;
}

export type SparklinesById = ReadonlyMap<string, SparklineData>;

export function useSparklines(ids: ReadonlySignal<readonly string[]>): ReadonlySignal<SparklinesById> {
  const sparklines = useSignal<SparklinesById>(new Map());
  const scheduleRefresh = useRef(() => {});

  useEffect(() => {
    const unmounted = new AbortController();
    const refresher = refreshOn({ pollMs: POLL_MS }, fetchStale);
    scheduleRefresh.current = refresher.scheduleRefresh;
    return () => {
      unmounted.abort();
      refresher.stop();
    };

    async function fetchStale(): Promise<void> {
      const known = sparklines.peek();
      const staleBefore = performance.now() - POLL_MS / 2;
      const stale = ids.peek().filter((id) => (known.get(id)?.fetchedAt ?? Number.NEGATIVE_INFINITY) < staleBefore);
      if (stale.length === 0) return;
      const variables = { ids: stale.slice(0, MAX_IDS), from: new Date(now.peek() - HOUR_MS).toISOString() };
      // The next poll tries again; the header shows whether the gateway can be reached.
      const result = await execute(Sparklines, variables, unmounted.signal).catch(() => null);
      if (!result || unmounted.signal.aborted) return;
      const next = new Map(known.size > MAX_KEPT ? [] : known);
      for (const node of result.nodes ?? [])
        if (node && 'trafficHistory' in node) next.set(node.id, sparklineOf(node.trafficHistory));
      sparklines.value = next;
    }
  }, [ids, sparklines]);

  useSignalEffect(() => {
    if (ids.value.length > 0) scheduleRefresh.current();
  });
  return sparklines;
}

function sparklineOf({ points }: SparklinePointsFragment): SparklineData {
  return {
    counts: points.map(({ requests, connections }) => requests + connections),
    errors: points.map(({ responses }) => responses.serverError),
    fetchedAt: performance.now(),
  };
}
