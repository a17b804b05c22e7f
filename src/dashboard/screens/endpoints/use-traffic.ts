// The current traffic of the visible endpoints. It changes all the time, so it is polled.

import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { execute } from '../../data/client/client.ts';
import { refreshOn } from '../../data/live/refresh.ts';
import { EndpointTraffic, type TrafficNowFragment } from '../../generated/operations.ts';

const POLL_MS = 2000;
/** The limit of `endpointTraffic` in the API. */
const MAX_ENDPOINTS = 100;

export type Traffic = ReadonlyMap<string, TrafficNowFragment>;

/** The traffic by the ids of endpoints, without those that this node does not serve. */
export function useTraffic(ids: ReadonlySignal<readonly string[]>): ReadonlySignal<Traffic> {
  const traffic = useSignal<Traffic>(new Map());
  const scheduleRefresh = useRef(() => {});

  useEffect(() => {
    const unmounted = new AbortController();
    const refresher = refreshOn({ pollMs: POLL_MS }, fetchTraffic);
    scheduleRefresh.current = refresher.scheduleRefresh;
    void refresher.refreshNow();
    return () => {
      unmounted.abort();
      refresher.stop();
    };

    async function fetchTraffic(): Promise<void> {
      const visibleIds = ids.peek().slice(0, MAX_ENDPOINTS);
      if (visibleIds.length === 0) return;
      // The next poll tries again; the header shows whether the gateway can be reached.
      const result = await execute(EndpointTraffic, { ids: visibleIds }, unmounted.signal).catch(() => null);
      if (!result || unmounted.signal.aborted) return;
      traffic.value = new Map(result.endpointTraffic?.map((one) => [one.endpointId, one]));
    }
  }, [ids, traffic]);

  useSignalEffect(() => {
    if (ids.value.length > 0) scheduleRefresh.current();
  });
  return traffic;
}
