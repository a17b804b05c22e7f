// Sums what several meters have counted for one subject: the sessions of an endpoint, the endpoints of an edge, those of an account.

import { encodeMerged } from './duration-sketch.ts';
import type { TrafficDelta } from './traffic-stats-store.ts';
import type { WindowCounts } from './traffic-window.ts';

interface Sum extends Omit<TrafficDelta, 'durations' | 'firstBytes'> {
  responses: number[];
  durations: Uint8Array[];
  firstBytes: Uint8Array[];
}

export class TrafficSums {
  readonly #sums = new Map<string, Sum>();

  add(accountId: string, subjectIds: readonly string[], counts: WindowCounts): void {
    for (const subjectId of subjectIds) this.#addTo(this.#sumOf(accountId, subjectId), counts);
  }

  /** The number of subjects. */
  get size(): number {
    return this.#sums.size;
  }

  *deltas(): Generator<TrafficDelta> {
    for (const { durations, firstBytes, ...sum } of this.#sums.values())
      yield { ...sum, durations: encodeMerged(durations), firstBytes: encodeMerged(firstBytes) };
  }

  #addTo(sum: Sum, counts: WindowCounts): void {
    counts.responses.forEach((count, digit) => {
      sum.responses[digit] = (sum.responses[digit] as number) + count;
    });
    sum.failures += counts.failures;
    sum.connections += counts.connections;
    sum.bytesIn += counts.bytesIn;
    sum.bytesOut += counts.bytesOut;
    sum.openConnections += counts.openConnections;
    sum.durationMs += counts.durationMs;
    if (counts.durations) sum.durations.push(counts.durations);
    if (counts.firstBytes) sum.firstBytes.push(counts.firstBytes);
  }

  #sumOf(accountId: string, subjectId: string): Sum {
    const known = this.#sums.get(subjectId);
    if (known) return known;
    const sum: Sum = {
      subjectId,
      accountId,
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
    this.#sums.set(subjectId, sum);
    return sum;
  }
}
