// The traffic events that wait for one destination.

import type { Schedule } from '../../runtime/schedule.ts';
import { type PackedEvents, packEvents } from '../batch.ts';
import type { TrafficCounters } from './counters.ts';
import type { Semaphore } from './semaphore.ts';
import type { TrafficStore } from './store.ts';

/** What is in a batch at most: events; characters, or one event. */
const BATCH_EVENTS = 500;
const BATCH_LENGTH = 256 * 1024;
/** Batches are stored so many milliseconds after the first event, or when there are so many: together costs less. */
const STORE_MS = 1000;
const STORE_BATCHES = 16;
/** The longest of the random waits between attempts, at first and at last; milliseconds. */
const [RETRY_MS, RETRY_MAX_MS] = [100, 5000];

export interface DestinationBufferParts {
  store: Pick<TrafficStore, 'append'>;
  counters: TrafficCounters;
  /** Told of attempts to store something. */
  failed(error: unknown): void;
  worked(): void;
  random(): number;
  schedule: Schedule;
  packs: Semaphore;
  appends: Semaphore;
}

interface Batch {
  count: number;
  /** Undefined when there was no memory for it. */
  packed: Promise<PackedEvents | undefined>;
}

/** Batches are packed when they are full, so that more can wait, and stored one after the other, so that they keep their order. */
export class DestinationBuffer {
  /** What waits: bytes of packed events, characters of others. */
  bytes = 0;
  readonly #destinationId: string;
  readonly #parts: DestinationBufferParts;
  readonly #onEmpty: () => void;
  #texts: string[] = [];
  #length = 0;
  #batches: Batch[] = [];
  #storing: Promise<void> | undefined;
  /** Whether what there is is to be stored, however little. */
  #isDue = false;
  /** Events that were given up, as long as the store does not know of them. */
  #dropped = 0;
  #isClosed = false;
  /** Undefined where nobody waits for events to be stored. */
  #stopWaiting: (() => void) | undefined;
  #stopPause = () => {};

  /** @param onEmpty called when nothing waits, and nothing is to be told: then it is not needed any more. */
  constructor(destinationId: string, parts: DestinationBufferParts, onEmpty: () => void) {
    this.#destinationId = destinationId;
    this.#parts = parts;
    this.#onEmpty = onEmpty;
  }

  add(text: string): void {
    this.#storeLater();
    this.#texts.push(text);
    this.#length += text.length;
    this.#weigh(1, text.length);
    if (this.#texts.length < BATCH_EVENTS && this.#length < BATCH_LENGTH) return;
    this.#seal();
    if (this.#batches.length >= STORE_BATCHES) this.#storing ??= this.#storeAll();
  }

  /** Counts an event that there is no room for. */
  drop(): void {
    this.#dropped++;
    this.#storeLater();
  }

  /** Stores what there is without waiting for more. @returns what settles when nothing waits any more. */
  async flush(): Promise<void> {
    this.#storeSoon();
    this.#stopPause();
    await this.#storing;
  }

  /** Gives up what waits, except what is being stored at the moment: that is given up if it fails. */
  close(): void {
    this.#isClosed = true;
    this.#stopPause();
    this.#storeSoon();
  }

  #storeLater(): void {
    this.#stopWaiting ??= this.#parts.schedule(STORE_MS, () => this.#storeSoon());
  }

  /** Stores what there is, behind what is being stored. */
  #storeSoon(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#seal();
    this.#isDue = this.#batches.length > 0 || this.#dropped > 0;
    if (this.#isDue) this.#storing ??= this.#storeAll();
  }

  #seal(): void {
    const [texts, length] = [this.#texts, this.#length];
    if (texts.length === 0) return;
    [this.#texts, this.#length] = [[], 0];
    this.#batches.push({ count: texts.length, packed: this.#pack(texts, length) });
  }

  async #pack(texts: readonly string[], length: number): Promise<PackedEvents | undefined> {
    try {
      const packed = await this.#parts.packs.run(() => packEvents(texts));
      this.#weigh(0, packed.body.length - length);
      return packed;
    } catch (error) {
      this.#parts.failed(error);
      this.#weigh(0, -length);
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
      const stored = isStored ? sum(packed.map(({ count }) => count)) : 0;
      const all = sum(batches.map(({ count }) => count));
      counters.appended += stored;
      counters.dropped[this.#isClosed ? 'closed' : 'buffer'] += all - stored;
      this.#dropped += all - stored;
      this.#weigh(-all, -sum(packed.map(({ body }) => body.length)));
      this.#batches.splice(0, batches.length);
    }
    this.#storing = undefined;
    if (this.#dropped > 0) this.#storeLater();
    else if (this.#texts.length + this.#batches.length === 0) this.#onEmpty();
  }

  /** @returns whether it is stored: it is tried until it works, or until all is given up. */
  async #store(packed: readonly PackedEvents[]): Promise<boolean> {
    for (let attempt = 0; !this.#isClosed; attempt++)
      if (await this.#parts.appends.run(() => this.#append(packed, attempt))) return true;
    return false;
  }

  /** @returns whether it is stored. If not, its turn lasts until the next attempt: a store that is away is not overrun. */
  async #append(packed: readonly PackedEvents[], attempt: number): Promise<boolean> {
    const { store, failed, worked, random, schedule } = this.#parts;
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
      const callOff = schedule(random() * Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** attempt), resolve);
      this.#stopPause = () => {
        callOff();
        resolve();
      };
    });
    return false;
  }

  #weigh(events: number, bytes: number): void {
    const { waiting } = this.#parts.counters;
    waiting.events += events;
    waiting.bytes += bytes;
    this.bytes += bytes;
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
