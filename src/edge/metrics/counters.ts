// The counters of each listener.

import type { ByteCounters } from '../../protocol/relay.ts';
import { DurationHistogram } from './duration-histogram.ts';

export interface HttpCounters {
  /** Connections that were accepted. */
  connections: number;
  /** Requests that were well formed. */
  requests: number;
  /** Answers by the first digit of their status, the gateway's own included; interim ones are not counted. */
  responses: { 1: number; 2: number; 3: number; 4: number; 5: number };
  /** Answers that were cut short. */
  cut: number;
  /** Requests that were sent once more, as their connection to the service was closed before an answer. */
  repeated: number;
  readonly traffic: ByteCounters;
  /** Requests to endpoints, from the end of their head on: to the head of the answer, and to the end of it. */
  readonly firstByteDurations: DurationHistogram;
  readonly requestDurations: DurationHistogram;
  /** What requests were upgraded to, from the head of the request to the end of the connection. */
  readonly upgradeDurations: DurationHistogram;
}

/** Connections to endpoints of TCP and TLS. */
export interface StreamCounters extends ByteCounters {
  readonly tcp?: DurationHistogram;
  readonly tls?: DurationHistogram;
}

export interface Counters {
  http: HttpCounters;
  https: HttpCounters;
  streams: StreamCounters & { tcp: DurationHistogram; tls: DurationHistogram };
}

export function createHttpCounters(): HttpCounters {
  return {
    connections: 0,
    requests: 0,
    responses: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 },
    cut: 0,
    repeated: 0,
    traffic: { fromSocket: 0, toSocket: 0 },
    firstByteDurations: new DurationHistogram(),
    requestDurations: new DurationHistogram(),
    upgradeDurations: new DurationHistogram(),
  };
}

export function createCounters(): Counters {
  return {
    http: createHttpCounters(),
    https: createHttpCounters(),
    streams: { fromSocket: 0, toSocket: 0, tcp: new DurationHistogram(), tls: new DurationHistogram() },
  };
}

export function countResponse({ responses: answers }: HttpCounters, status: number): void {
  const kind = Math.trunc(status / 100);
  if (kind === 2) answers[2]++;
  else if (kind === 1 || kind === 3 || kind === 4 || kind === 5) answers[kind]++;
}
