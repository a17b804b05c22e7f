// The traffic events that wait for one destination.

import type { Schedule } from '../../runtime/schedule.ts';
import { packLines } from '../batch.ts';
import type { RecentBatches } from '../recent-batches.ts';
import type { TrafficCounters } from './counters.ts';
import { EventLines, type LineBuffers } from './event-lines.ts';
import type { Semaphore } from './semaphore.ts';
import type { StorableEvents, TrafficStore } from './store.ts';

/** A batch is full as soon as it has so many events, or so many bytes. */
const BATCH_EVENTS = 500;
const BATCH_BYTES = 256 * 1024;
/** Batches are stored so many milliseconds after the first event, or when there are so many: storing them together costs less. */
const STORE_MS = 1000;
const STORE_BATCHES = 16;
/** The longest random delay before the second attempt, and before any later one, in milliseconds. */
const [RETRY_MS, RETRY_MAX_MS] = [100, 5000];

export interface DestinationBufferParts {
  store: Pick<TrafficStore, 'append'>;
  counters: TrafficCounters;
  /** Called after a failed, or a successful, attempt to store events. */
  onFailure(error: unknown): void;
  onSuccess(): void;
  random(): number;
  schedule: Schedule;
  lineBuffers: LineBuffers;
  /** Keeps what is stored for its delivery. Undefined where another process delivers. */
  recent?: RecentBatches | undefined;
  packSemaphore: Semaphore;
  appendSemaphore: Semaphore;
}

interface Batch {
  count: number;
  /** Undefined when packing failed, as for want of memory. */
  packed: Promise<StorableEvents | undefined>;
}

/** Batches are packed when they are full, so that more can wait, and stored one after the other, so that they keep their order. */
export class DestinationBuffer {
  /** How many bytes wait, packed or not. */
  bytes = 0;
  readonly #destinationId: string;
  readonly #parts: DestinationBufferParts;
  readonly #onEmpty: () => void;
  /** The batch that is not full yet; undefined when it has no event. */
  #lines: EventLines | undefined;
  #batches: Batch[] = [];
  #storing: Promise<void> | undefined;
  /** Whether all batches are to be stored now, however few they are. */
  #isDue = false;
  /** Dropped events that are not yet counted in the store. */
  #dropped = 0;
  #isClosed = false;
  /** Undefined when no storing is scheduled. */
  #cancelScheduledStore: (() => void) | undefined;
  #skipRetryDelay = () => {};

  /** @param onEmpty called when no event waits and no drop is left to be counted: the buffer is then not needed any more. */
  constructor(destinationId: string, parts: DestinationBufferParts, onEmpty: () => void) {
    this.#destinationId = destinationId;
    this.#parts = parts;
    this.#onEmpty = onEmpty;
  }

  /** @param bytes the length of the text in UTF-8. */
  add(text: string, bytes: number): void {
    this.#scheduleStore();
    this.#lines ??= new EventLines(this.#parts.lineBuffers, bytes);
    this.#lines.add(text, bytes);
    this.#addWaiting(1, bytes);
    if (this.#lines.count < BATCH_EVENTS && this.#lines.bytes < BATCH_BYTES) return;
    this.#seal();
    if (this.#batches.length >= STORE_BATCHES) this.#storing ??= this.#storeAll();
  }

  /** Counts an event for which the buffer has no space. */
  drop(): void {
    this.#dropped++;
    this.#scheduleStore();
  }

  /** Stores all events without waiting for more. The promise resolves when none waits any more. */
  async flush(): Promise<void> {
    this.#storeNow();
    this.#skipRetryDelay();
    await this.#storing;
  }

  /** Drops the events that wait. Those that are being stored at the moment are dropped only if that fails. */
  close(): void {
    this.#isClosed = true;
    this.#skipRetryDelay();
    this.#storeNow();
  }

  #scheduleStore(): void {
    this.#cancelScheduledStore ??= this.#parts.schedule(STORE_MS, () => this.#storeNow());
  }

  /** Stores all events, after those that are being stored. */
  #storeNow(): void {
    this.#cancelScheduledStore?.();
    this.#cancelScheduledStore = undefined;
    this.#seal();
    this.#isDue = this.#batches.length > 0 || this.#dropped > 0;
    if (this.#isDue) this.#storing ??= this.#storeAll();
  }

  #seal(): void {
    const lines = this.#lines;
    if (!lines) return;
    this.#lines = undefined;
    this.#batches.push({ count: lines.count, packed: this.#pack(lines) });
  }

  async #pack(lines: EventLines): Promise<StorableEvents | undefined> {
    try {
      const packed = await this.#parts.packSemaphore.run(() => packLines(lines.lines, lines.count));
      this.#addWaiting(0, packed.body.length - lines.bytes);
      const recent = this.#parts.recent?.keep(lines);
      if (!recent) lines.release();
      return { ...packed, recent };
    } catch (error) {
      this.#parts.onFailure(error);
      this.#addWaiting(0, -lines.bytes);
      return undefined;
    }
  }

  async #storeAll(): Promise<void> {
    const { counters } = this.#parts;
    while (this.#isDue || this.#batches.length >= STORE_BATCHES) {
      this.#isDue = this.#batches.length > STORE_BATCHES;
      const batches = this.#batches.slice(0, STORE_BATCHES);
      const packed = (await Promise.all(batches.map((batch) => batch.packed))).filter((one) => one !== undefined);
      const isStored = (packed.length > 0 || this.#dropped > 0) && (await this.#store(packed));
      if (!isStored) for (const { recent } of packed) recent?.forget();
      const stored = isStored ? sum(packed.map(({ count }) => count)) : 0;
      const total = sum(batches.map(({ count }) => count));
      counters.appended += stored;
      counters.dropped[this.#isClosed ? 'closed' : 'buffer'] += total - stored;
      this.#dropped += total - stored;
      this.#addWaiting(-total, -sum(packed.map(({ body }) => body.length)));
      this.#batches.splice(0, batches.length);
    }
    this.#storing = undefined;
    if (this.#dropped > 0) this.#scheduleStore();
    else if (!this.#lines && this.#batches.length === 0) this.#onEmpty();
  }

  /** Tries until it succeeds or the buffer is closed. @returns whether the batches are stored. */
  async #store(packed: readonly StorableEvents[]): Promise<boolean> {
    for (let attempt = 0; !this.#isClosed; attempt++)
      if (await this.#parts.appendSemaphore.run(() => this.#append(packed, attempt))) return true;
    return false;
  }

  /** @returns whether the batches are stored. If not, it resolves only after the retry delay, so that its slot in the semaphore stays taken and a store that is down is not flooded. */
  async #append(packed: readonly StorableEvents[], attempt: number): Promise<boolean> {
    const { store, onFailure: failed, onSuccess: worked, random, schedule } = this.#parts;
    const dropped = this.#dropped;
    try {
      await store.append(this.#destinationId, packed, dropped);
      this.#dropped -= dropped;
      worked();
      return true;
    } catch (error) {
      failed(error);
    }
    if (this.#isClosed) return false;
    await new Promise<void>((resolve) => {
      const cancel = schedule(random() * Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** attempt), resolve);
      this.#skipRetryDelay = () => {
        cancel();
        resolve();
      };
    });
    return false;
  }

  #addWaiting(events: number, bytes: number): void {
    const { waiting } = this.#parts.counters;
    waiting.events += events;
    waiting.bytes += bytes;
    this.bytes += bytes;
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
