// What passes through an endpoint. To count is to add, and no more than that; the rates are made of what was added when
// somebody looks, which the node does now and then, so that they are of the last seconds whenever they are asked for.

import type { ByteCounters } from '../../protocol/relay.ts';

/** What is older than this counts for a third, and what is three times as old for almost nothing; milliseconds. */
const DECAY_MS = 10_000;

/** How often meters are sampled; milliseconds. */
const SAMPLE_INTERVAL_MS = 1000;

/** What is counted, for each second of late. */
export interface TrafficRates {
  requestsPerSecond: number;
  bytesInPerSecond: number;
  bytesOutPerSecond: number;
}

/** @returns what ends it. */
export function startRateSampling(endpoints: { sample(): void }): () => void {
  const timer = setInterval(() => endpoints.sample(), SAMPLE_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

export class TrafficMeter implements ByteCounters {
  /** HTTP requests, and connections of TCP and TLS. */
  requests = 0;
  /** Those of them that are under way. */
  open = 0;
  fromSocket = 0;
  toSocket = 0;
  readonly #requests = new Rate();
  readonly #fromSocket = new Rate();
  readonly #toSocket = new Rate();
  /** When it was last looked at. */
  #at: number | undefined;

  /** A request or a connection has come. */
  begin(): void {
    this.requests++;
    this.open++;
  }

  /** It is over. */
  end(): void {
    this.open--;
  }

  /** @param now of a clock that never goes back, in milliseconds. */
  sampleRates(now: number): TrafficRates {
    const elapsedMs = now - (this.#at ?? now);
    this.#at = now;
    if (elapsedMs > 0) {
      const weight = Math.exp(-elapsedMs / DECAY_MS);
      this.#requests.update(this.requests, elapsedMs, weight);
      this.#fromSocket.update(this.fromSocket, elapsedMs, weight);
      this.#toSocket.update(this.toSocket, elapsedMs, weight);
    }
    return {
      requestsPerSecond: this.#requests.perSecond,
      bytesInPerSecond: this.#fromSocket.perSecond,
      bytesOutPerSecond: this.#toSocket.perSecond,
    };
  }
}

/** How fast a count grows: what is longer ago weighs less. */
class Rate {
  perSecond = 0;
  #count = 0;

  /** @param weight what remains of the weight of all before. */
  update(count: number, elapsedMs: number, weight: number): void {
    const now = ((count - this.#count) * 1000) / elapsedMs;
    this.perSecond = this.perSecond * weight + now * (1 - weight);
    this.#count = count;
  }
}
