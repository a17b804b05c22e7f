// Adds up rows of figures: of several processes, and of several buckets.

import type { TrafficRow } from './traffic-rows.ts';

/** What rows are together. The sketches are merged when somebody asks for percentiles. */
export interface TrafficSum {
  /** By the first digit of the status; without a response at 0. */
  responses: [number, number, number, number, number, number];
  failures: number;
  connections: number;
  bytesIn: number;
  bytesOut: number;
  /** The most that were under way at the end of one of the buckets. */
  openConnections: number;
  durationMs: number;
  durations: Uint8Array[];
  firstBytes: Uint8Array[];
}

export function mergeRows(rows: readonly TrafficRow[]): TrafficSum {
  const sum = emptySum();
  /** By the start of the bucket: what processes have open at the same time adds up. */
  const open = new Map<number, number>();
  for (const row of rows) {
    const { responses } = sum;
    responses[0] += row.unanswered;
    responses[1] += row.informational;
    responses[2] += row.success;
    responses[3] += row.redirection;
    responses[4] += row.clientError;
    responses[5] += row.serverError;
    sum.failures += row.failures;
    sum.connections += row.connections;
    sum.bytesIn += row.bytesIn;
    sum.bytesOut += row.bytesOut;
    sum.durationMs += row.durationMs;
    if (row.durations) sum.durations.push(row.durations);
    if (row.firstBytes) sum.firstBytes.push(row.firstBytes);
    open.set(row.at, (open.get(row.at) ?? 0) + row.openConnections);
  }
  sum.openConnections = Math.max(0, ...open.values());
  return sum;
}

export function emptySum(): TrafficSum {
  return {
    responses: [0, 0, 0, 0, 0, 0],
    failures: 0,
    connections: 0,
    bytesIn: 0,
    bytesOut: 0,
    openConnections: 0,
    durationMs: 0,
    durations: [],
    firstBytes: [],
  };
}
