// Measures the traffic of an endpoint. The hot path only increments counters; the rates are computed from them when they are
// sampled. The node samples about every second, so that the rates always cover the last seconds.

import type { ByteCounters } from '../../protocol/relay.ts';

/** The time constant of the exponential moving average: traffic of this age weighs about a third; milliseconds. */
const DECAY_MS = 10_000;

/** How often meters are sampled; milliseconds. */
const SAMPLE_INTERVAL_MS = 1000;

/** The rates of an endpoint over the last seconds. */
export interface TrafficRates {
  requestsPerSecond: number;
  bytesInPerSecond: number;
  bytesOutPerSecond: number;
}

/** Samples the rates of all endpoints periodically. @returns the function that stops it. */
export function startRateSampling(meters: readonly { sample(): void }[]): () => void {
  const timer = setInterval(() => {
    for (const each of meters) each.sample();
  }, SAMPLE_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** What the requests and connections of a meter become, for the figures of its endpoint. The edge makes it. */
export interface TrafficRecording {
  /** A response has begun. @param firstByteMs from the end of the request's head. */
  answered(status: number, firstByteMs: number): void;
  /** A request has ended that had a response. @param durationMs from the end of its head. */
  finished(durationMs: number): void;
  /** A request has ended without a response. @param isRefused whether that is what a module wants. */
  unanswered(durationMs: number, isRefused: boolean): void;
  /** A connection of TCP or TLS has begun, and has ended. */
  connected(): void;
  disconnected(durationMs: number): void;
}

/** The counters and rates of one endpoint. */
export class TrafficMeter implements ByteCounters {
  /** HTTP requests, or connections of TCP and TLS. */
  requests = 0;
  /** Requests or connections in progress. */
  open = 0;
  fromSocket = 0;
  toSocket = 0;
  /** There while the figures of the endpoint are recorded: from its first visitor on, and until nobody visits it any more. */
  recording: TrafficRecording | undefined;
  readonly #requests = new Rate();
  readonly #fromSocket = new Rate();
  readonly #toSocket = new Rate();
  #lastSampledAt: number | undefined;

  /** Counts the start of a request or a connection. */
  begin(): void {
    this.requests++;
    this.open++;
  }

  /** Counts its end. */
  end(): void {
    this.open--;
  }

  /** Updates the rates from the counters. @param now the time of a monotonic clock, in milliseconds. */
  sampleRates(now: number): TrafficRates {
    const elapsedMs = now - (this.#lastSampledAt ?? now);
    this.#lastSampledAt = now;
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

/** The rate at which a count grows, as an exponential moving average. */
class Rate {
  perSecond = 0;
  #count = 0;

  /** @param weight the weight of the previous average, from 0 to 1. */
  update(count: number, elapsedMs: number, weight: number): void {
    const current = ((count - this.#count) * 1000) / elapsedMs;
    this.perSecond = this.perSecond * weight + current * (1 - weight);
    this.#count = count;
  }
}
