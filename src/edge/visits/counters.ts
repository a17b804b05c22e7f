// What is counted of visits, by the listener that they come through.

import type { Traffic } from '../../protocol/relay.ts';
import { Durations } from './durations.ts';

export interface HttpCounters {
  /** Connections that were accepted. */
  connections: number;
  /** Requests that were well formed. */
  requests: number;
  /** Answers by the first digit of their status, the gateway's own included; interim ones are not counted. */
  answers: { 1: number; 2: number; 3: number; 4: number; 5: number };
  /** Answers that were cut short. */
  cut: number;
  readonly traffic: Traffic;
  /** Requests to endpoints, from the end of their head on: to the head of the answer, and to the end of it. */
  readonly firstByte: Durations;
  readonly visits: Durations;
  /** What requests were upgraded to, from the head of the request to the end of the connection. */
  readonly upgrades: Durations;
}

/** Connections to endpoints of TCP and TLS. */
export interface StreamCounters extends Traffic {
  readonly tcp?: Durations;
  readonly tls?: Durations;
}

export interface Counters {
  http: HttpCounters;
  https: HttpCounters;
  streams: StreamCounters & { tcp: Durations; tls: Durations };
}

export function createHttpCounters(): HttpCounters {
  return {
    connections: 0,
    requests: 0,
    answers: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 },
    cut: 0,
    traffic: { fromSocket: 0, toSocket: 0 },
    firstByte: new Durations(),
    visits: new Durations(),
    upgrades: new Durations(),
  };
}

export function createCounters(): Counters {
  return {
    http: createHttpCounters(),
    https: createHttpCounters(),
    streams: { fromSocket: 0, toSocket: 0, tcp: new Durations(), tls: new Durations() },
  };
}

export function countAnswer({ answers }: HttpCounters, status: number): void {
  const kind = Math.trunc(status / 100);
  if (kind === 2) answers[2]++;
  else if (kind === 1 || kind === 3 || kind === 4 || kind === 5) answers[kind]++;
}
