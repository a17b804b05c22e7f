// Traffic events on their way into the store: collected in memory for each destination, packed, and stored in their order.
// Nobody ever waits for them: what there is no room for is dropped, and counted.

import { type Schedule, scheduleByTimer } from '../../runtime/schedule.ts';
import type { TrafficCounters } from './counters.ts';
import { DestinationBuffer, type DestinationBufferParts } from './destination-buffer.ts';
import { Semaphore } from './semaphore.ts';
import type { TrafficStore } from './store.ts';

/** How many are stored, and how many are packed at the same time, of all destinations. */
const APPENDS_MAX = 4;
const PACKS_MAX = 1;
/** How long `flush` tries at most, in milliseconds. */
const FLUSH_MS = 5000;
/**
 * A destination may have so many times what is still free: the more is full, the less of it may be one's alone. So one
 * that nothing can be stored for as fast as it comes leaves room for others: a fifth, when it is the only one.
 */
const SHARE = 4;

export interface EventBufferParts {
  store: Pick<TrafficStore, 'append'>;
  /** How much may wait, of all destinations together: bytes of packed events, characters of those that are not packed yet. */
  maxBytes: number;
  counters: TrafficCounters;
  /** Told when events cannot be stored, but not again before it has worked in between. */
  onFailure(error: unknown): void;
  /** In [0, 1). */
  random(): number;
  /** Does something after so many milliseconds. @returns what calls it off. */
  schedule?: Schedule;
}

export class EventBuffer {
  readonly #parts: DestinationBufferParts;
  readonly #maxBytes: number;
  readonly #counters: TrafficCounters;
  /** By destination. One that has nothing is not there. */
  readonly #lines = new Map<string, DestinationBuffer>();
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
    this.#parts = { ...parts, counters, failed, worked, schedule, packs, appends };
    this.#maxBytes = maxBytes;
    this.#counters = counters;
  }

  /** Takes an event for a destination. @param text as `writeEvent` makes it. */
  add(destinationId: string, text: string): void {
    const { accepted, dropped, waiting } = this.#counters;
    this.#counters.accepted = accepted + 1;
    if (this.#isClosed) {
      dropped.closed++;
      return;
    }
    const line = this.#lineOf(destinationId);
    if (line.bytes + text.length > SHARE * (this.#maxBytes - waiting.bytes - text.length)) {
      dropped.buffer++;
      line.drop();
    } else line.add(text);
  }

  /** Stores what waits. @returns what settles when nothing waits any more, or when it could not be done within 5 s. */
  async flush(): Promise<void> {
    let callOff = () => {};
    const late = new Promise<void>((resolve) => {
      callOff = this.#parts.schedule(FLUSH_MS, resolve);
    });
    await Promise.race([late, Promise.all(Array.from(this.#lines.values(), (line) => line.flush()))]);
    callOff();
  }

  /** Takes nothing any more, and gives up what still waits. */
  close(): void {
    this.#isClosed = true;
    for (const line of this.#lines.values()) line.close();
    this.#lines.clear();
  }

  #lineOf(destinationId: string): DestinationBuffer {
    const known = this.#lines.get(destinationId);
    if (known) return known;
    const line = new DestinationBuffer(destinationId, this.#parts, () => this.#lines.delete(destinationId));
    this.#lines.set(destinationId, line);
    return line;
  }
}
