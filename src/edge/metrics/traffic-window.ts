// What one meter has counted since the last bucket was closed. Every request passes here: it is answered and ends, at the cost of two
// additions to sketches, and no object is made.

import type { TrafficMeter, TrafficRecording } from '../../tunnel/endpoints/traffic-meter.ts';
import { addDuration, type DurationSketch, encodeSketch, newSketch } from './duration-sketch.ts';
import type { TrafficDelta } from './traffic-stats-store.ts';

/** From this status on, a response says that the endpoint has failed. */
const SERVER_ERROR = 500;

export type WindowCounts = Omit<TrafficDelta, 'subjectId' | 'accountId'>;

export class TrafficWindow implements TrafficRecording {
  readonly meter: TrafficMeter;
  readonly accountId: string;
  /** What it counts for. */
  readonly subjectIds: readonly string[];
  #responses = [0, 0, 0, 0, 0, 0];
  #failures = 0;
  #connections = 0;
  #durationMs = 0;
  #durations: DurationSketch | undefined;
  #firstBytes: DurationSketch | undefined;
  #bytesIn: number;
  #bytesOut: number;

  constructor(meter: TrafficMeter, accountId: string, subjectIds: readonly string[]) {
    this.meter = meter;
    this.accountId = accountId;
    this.subjectIds = subjectIds;
    this.#bytesIn = meter.fromSocket;
    this.#bytesOut = meter.toSocket;
  }

  answered(status: number, firstByteMs: number): void {
    const digit = Math.trunc(status / 100);
    this.#count(digit >= 1 && digit <= 5 ? digit : 5);
    if (status >= SERVER_ERROR) this.#failures++;
    this.#firstBytes ??= newSketch();
    addDuration(this.#firstBytes, firstByteMs);
  }

  finished(durationMs: number): void {
    this.#durations ??= newSketch();
    this.#durationMs += durationMs;
    addDuration(this.#durations, durationMs);
  }

  unanswered(durationMs: number, isRefused: boolean): void {
    this.#count(0);
    if (!isRefused) this.#failures++;
    this.finished(durationMs);
  }

  connected(): void {
    this.#connections++;
  }

  disconnected(durationMs: number): void {
    this.finished(durationMs);
  }

  /** Takes what was counted, and begins again. @returns undefined when there is nothing to tell. */
  take(): WindowCounts | undefined {
    const { open, fromSocket, toSocket } = this.meter;
    const bytesIn = fromSocket - this.#bytesIn;
    const bytesOut = toSocket - this.#bytesOut;
    const responses = this.#responses;
    const isIdle = !this.#durations && !responses.some((count) => count > 0) && this.#connections === 0;
    if (isIdle && bytesIn === 0 && bytesOut === 0 && open === 0) return undefined;
    const counts: WindowCounts = {
      responses,
      failures: this.#failures,
      connections: this.#connections,
      bytesIn,
      bytesOut,
      openConnections: open,
      durationMs: this.#durationMs,
      durations: this.#durations ? encodeSketch(this.#durations) : null,
      firstBytes: this.#firstBytes ? encodeSketch(this.#firstBytes) : null,
    };
    this.#responses = [0, 0, 0, 0, 0, 0];
    this.#failures = 0;
    this.#connections = 0;
    this.#durationMs = 0;
    this.#durations = undefined;
    this.#firstBytes = undefined;
    this.#bytesIn = fromSocket;
    this.#bytesOut = toSocket;
    return counts;
  }

  #count(digit: number): void {
    this.#responses[digit] = (this.#responses[digit] as number) + 1;
  }
}
