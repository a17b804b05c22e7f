// The traffic of visitors who came to this node for tunnels of others. The meters outlive what is known of the tunnels, which is
// described anew whenever it changes.

import { LRUCache } from 'lru-cache';
import { boundedTo } from '../runtime/lru-bound.ts';
import { type EndpointTrafficSnapshot, trafficSnapshot } from '../tunnel/endpoints/endpoint-registry.ts';
import { TrafficMeter } from '../tunnel/endpoints/traffic-meter.ts';

/** The most endpoints whose traffic is measured. */
const METERS_MAX = 10_000;

export class RemoteMeters {
  readonly #meters = new LRUCache<string, { accountId: string; meter: TrafficMeter }>(boundedTo(METERS_MAX));
  readonly #now: () => number;

  /** @param now a monotonic clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The meter of an endpoint, which is the same at each call. */
  meterOf({ id, accountId }: { id: string; accountId: string }): TrafficMeter {
    const known = this.#meters.get(id);
    if (known) return known.meter;
    const meter = new TrafficMeter();
    this.#meters.set(id, { accountId, meter });
    return meter;
  }

  /** The traffic of an endpoint; undefined when no visitor has come for it. */
  trafficOf(id: string): EndpointTrafficSnapshot | undefined {
    const { accountId, meter } = this.#meters.peek(id) ?? {};
    return accountId === undefined || !meter ? undefined : trafficSnapshot(id, accountId, [meter], this.#now());
  }

  /** Updates the rates of all meters, about every second. */
  sample(): void {
    const now = this.#now();
    for (const { meter } of this.#meters.values()) meter.sampleRates(now);
  }
}
