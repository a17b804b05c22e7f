// Traffic events on their way into the store. They are collected in memory for each destination, packed, and stored in their
// order. No request ever waits for them: events that do not fit into the buffer are dropped and counted.

import { type Schedule, scheduleByTimer } from '../../runtime/schedule.ts';
import type { RecentBatches } from '../recent-batches.ts';
import type { TrafficCounters } from './counters.ts';
import { DestinationBuffer, type DestinationBufferParts } from './destination-buffer.ts';
import { LineBuffers } from './event-lines.ts';
import { Semaphore } from './semaphore.ts';
import type { TrafficStore } from './store.ts';

/** How many batches of all destinations are stored, and how many are packed, at the same time. */
const APPENDS_MAX = 4;
const PACKS_MAX = 1;
/** How long `flush` takes at most, in milliseconds. */
const FLUSH_MS = 5000;
/**
 * One destination may use so many times the space that is still free (the dynamic threshold of shared-buffer switches). The
 * fuller the buffer is, the less of it one destination may have. So a destination whose events come faster than they can be
 * stored always leaves space for others: a fifth, when it is the only one.
 */
const FREE_SHARE = 4;

export interface EventBufferParts {
  store: Pick<TrafficStore, 'append'>;
  /** How many bytes may wait for all destinations together, packed or not. */
  maxBytes: number;
  counters: TrafficCounters;
  /** Keeps what is stored for its delivery. Undefined where another process delivers. */
  recent?: RecentBatches;
  /** Called when events cannot be stored, and again only after storing has worked in between. */
  onFailure(error: unknown): void;
  /** In [0, 1). */
  random(): number;
  /** Calls a function after so many milliseconds. @returns a function that cancels the call. */
  schedule?: Schedule;
}

export class EventBuffer {
  readonly #parts: DestinationBufferParts;
  readonly #maxBytes: number;
  readonly #counters: TrafficCounters;
  /** By destination. An empty buffer is removed. */
  readonly #buffers = new Map<string, DestinationBuffer>();
  #isFailing = false;
  #isClosed = false;

  constructor({ maxBytes, counters, onFailure, schedule = scheduleByTimer, ...parts }: EventBufferParts) {
    const failed = (error: unknown) => {
      counters.failures++;
      if (!this.#isFailing) onFailure(error);
      this.#isFailing = true;
    };
    const worked = () => {
      this.#isFailing = false;
    };
    const [packs, appends] = [new Semaphore(PACKS_MAX), new Semaphore(APPENDS_MAX)];
    this.#parts = {
      ...parts,
      counters,
      onFailure: failed,
      onSuccess: worked,
      schedule,
      lineBuffers: new LineBuffers(),
      packSemaphore: packs,
      appendSemaphore: appends,
    };
    this.#maxBytes = maxBytes;
    this.#counters = counters;
  }

  /** Adds an event for a destination, or drops it when the buffer is full. @param text as `writeEvent` returns it. */
  add(destinationId: string, text: string): void {
    const { accepted, dropped, waiting } = this.#counters;
    this.#counters.accepted = accepted + 1;
    if (this.#isClosed) {
      dropped.closed++;
      return;
    }
    const buffer = this.#bufferOf(destinationId);
    const bytes = Buffer.byteLength(text);
    if (buffer.bytes + bytes > FREE_SHARE * (this.#maxBytes - waiting.bytes - bytes)) {
      dropped.buffer++;
      buffer.drop();
    } else buffer.add(text, bytes);
  }

  /** Stores all events that wait. The promise resolves when none waits any more, or after 5 seconds. */
  async flush(): Promise<void> {
    let cancel = () => {};
    const deadline = new Promise<void>((resolve) => {
      cancel = this.#parts.schedule(FLUSH_MS, resolve);
    });
    await Promise.race([deadline, Promise.all(Array.from(this.#buffers.values(), (buffer) => buffer.flush()))]);
    cancel();
  }

  /** Accepts no more events, and drops those that still wait. */
  close(): void {
    this.#isClosed = true;
    for (const buffer of this.#buffers.values()) buffer.close();
    this.#buffers.clear();
  }

  #bufferOf(destinationId: string): DestinationBuffer {
    const known = this.#buffers.get(destinationId);
    if (known) return known;
    const buffer = new DestinationBuffer(destinationId, this.#parts, () => this.#buffers.delete(destinationId));
    this.#buffers.set(destinationId, buffer);
    return buffer;
  }
}
