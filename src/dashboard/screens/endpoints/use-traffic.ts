// What passes through the endpoints on screen. It changes all the time, so that nobody is told of it: it is asked for.

import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { execute } from '../../data/client/client.ts';
import { refreshOn } from '../../data/live/refresh.ts';
import { EndpointTraffic, type TrafficNowFragment } from '../../generated/operations.ts';

const EVERY_MS = 2000;
/** The most that the API tells of at once. */
const MOST = 100;

export type Traffic = ReadonlyMap<string, TrafficNowFragment>;

/** By the ids of endpoints; those that this node of the gateway does not serve are left out. */
export function useTraffic(ids: ReadonlySignal<readonly string[]>): ReadonlySignal<Traffic> {
  const traffic = useSignal<Traffic>(new Map());
  const soon = useRef(() => {});

  useEffect(() => {
    const gone = new AbortController();
    const asking = refreshOn({ pollMs: EVERY_MS }, ask);
    soon.current = asking.scheduleRefresh;
    void asking.refreshNow();
    return () => {
      gone.abort();
      asking.stop();
    };

    async function ask(): Promise<void> {
      const asked = ids.peek().slice(0, MOST);
      if (asked.length === 0) return;
      // What failed is asked again by the clock; whether the gateway is there at all is said elsewhere.
      const answer = await execute(EndpointTraffic, { ids: asked }, gone.signal).catch(() => null);
      if (!answer || gone.signal.aborted) return;
      traffic.value = new Map(answer.endpointTraffic?.map((one) => [one.endpointId, one]));
    }
  }, [ids, traffic]);

  useSignalEffect(() => {
    if (ids.value.length > 0) soon.current();
  });
  return traffic;
}
