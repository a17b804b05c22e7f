// Delivers what waits: leases lanes that are due, each of which has a turn of its own, and waits for more.

import type { DeliveryCounters } from './counters.ts';
import { deliverBatches, NO_PROGRESS } from './deliver-batches.ts';
import type { DestinationQueueStore, LeasedQueue } from './destination-queue.ts';
import { type OpenSink, OpenSinks } from './open-sinks.ts';

/** Milliseconds, but for `lanesMax`. A turn and its last request must be over before the lease is. */
export interface DeliverySettings {
  /** Lanes that have their turn at the same time. */
  queuesMax: number;
  leaseMs: number;
  sliceMs: number;
  requestMs: number;
  /** How often the store is asked without being woken. */
  pollMs: number;
  /** How long after being woken: events come in bursts, and a turn for many costs little more than one for each. */
  lingerMs: number;
  /** How long requests under way may take when the deliverer is closed. */
  drainMs: number;
}

const DEFAULTS: DeliverySettings = {
  queuesMax: 256,
  leaseMs: 60_000,
  sliceMs: 20_000,
  requestMs: 15_000,
  pollMs: 1000,
  lingerMs: 50,
  drainMs: 5000,
};

const KB = 1024;
/** What one lane reads at once, in bytes as they are stored; and what all lanes together do. */
const READ_MIN = 64 * KB;
const READ_MAX = 256 * KB;
const READ_ALL = 16 * 1024 * KB;

export interface DelivererParts {
  queues: DestinationQueueStore;
  openSink: OpenSink;
  /** From 0, below 1. */
  random(): number;
  /** Milliseconds, monotonic. */
  now(): number;
  /** The wall clock, in milliseconds. */
  wallClock?(): number;
  counters: DeliveryCounters;
  /** Told once when the store fails, and again only after it has worked in between. */
  onFailure(error: unknown): void;
  settings?: Partial<DeliverySettings>;
}

interface Delivery {
  /** Never rejects. */
  done: Promise<void>;
  /** Aborted when its request under way must end. */
  ending: AbortController;
}

export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #settings: DeliverySettings;
  readonly #sinks: OpenSinks;
  /** By destination. */
  readonly #turns = new Map<string, Delivery>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #running: Promise<void> | undefined;
  #isClosing = false;
  #isFailing = false;
  #isWoken = false;
  #wakeUp = () => {};

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    this.#settings = { ...DEFAULTS, ...parts.settings };
    this.#sinks = new OpenSinks(parts.openSink, parts.now);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** There may be something to deliver. */
  wake(): void {
    this.#isWoken = true;
    this.#wakeUp();
  }

  /**
   * Stops. Requests under way have a moment to end; what was delivered is settled, and leases end, so that another node
   * can go on at once.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.wake();
    const drained = setTimeout(() => {
      for (const { ending } of this.#turns.values()) ending.abort();
    }, this.#settings.drainMs);
    await this.#running;
    await Promise.all(Array.from(this.#turns.values(), ({ done }) => done));
    clearTimeout(drained);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#sinks.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      this.#isWoken = false;
      await this.#claimAll().catch((error) => this.#failed(error));
      this.#sinks.sweep();
      await this.#pause(this.#settings.pollMs);
      if (!this.#isClosing) await new Promise<void>((resolve) => this.#after(this.#settings.lingerMs, resolve));
    }
  }

  async #claimAll(): Promise<void> {
    const { queues: lanes, now } = this.#parts;
    while (!this.#isClosing && this.#turns.size < this.#settings.queuesMax) {
      const since = now();
      const lane = await lanes.claim(this.#settings.leaseMs);
      this.#isFailing = false;
      if (!lane) return;
      // A lease that ended before its turn did: what is still under way counts no more, and may go to a target that was
      // replaced, which need not answer. It is not waited for, and yet the two are never on the way together.
      const before = this.#turns.get(lane.destinationId);
      before?.ending.abort();
      const ending = new AbortController();
      const done = Promise.resolve(before?.done).then(() => this.#take(lane, since, ending.signal));
      const turn: Delivery = { done, ending };
      this.#turns.set(lane.destinationId, turn);
      void done.then(() => {
        if (this.#turns.get(lane.destinationId) === turn) this.#turns.delete(lane.destinationId);
        this.wake();
      });
    }
  }

  /** Never rejects. @param since when the lease began at the earliest. */
  async #take(lane: LeasedQueue, since: number, signal: AbortSignal): Promise<void> {
    const { now, wallClock = Date.now } = this.#parts;
    const mayGoOn = () => !this.#isClosing && now() < since + this.#settings.sliceMs;
    const bytes = () => Math.min(READ_MAX, Math.max(READ_MIN, READ_ALL / this.#turns.size));
    const parts = {
      ...this.#parts,
      wallClock,
      sinks: this.#sinks,
      signal,
      settings: this.#settings,
    };
    try {
      const ms = await deliverBatches(lane, parts, { mayGoOn, bytes });
      if (ms !== undefined) this.#wakeIn(ms);
    } catch (error) {
      this.#failed(error);
      await this.#giveBack(lane, since);
    }
  }

  /** Ends a lease as soon as the store answers again, so that the lane does not have to wait for its end. */
  async #giveBack(lane: LeasedQueue, since: number): Promise<void> {
    const { queues: lanes, now } = this.#parts;
    const { leaseMs, pollMs } = this.#settings;
    while (!this.#isClosing && now() < since + leaseMs) {
      await new Promise<void>((resolve) => this.#after(pollMs, resolve));
      try {
        await lanes.settle(lane, NO_PROGRESS, { kind: 'rests' }, leaseMs);
        return;
      } catch {
        // Was told already.
      }
    }
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) this.#parts.onFailure(error);
    this.#isFailing = true;
  }

  #wakeIn(ms: number): void {
    if (!this.#isClosing) this.#after(ms, () => this.wake());
  }

  #after(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms).unref();
    this.#timers.add(timer);
  }

  /** Until it is woken, or so many milliseconds are over. */
  async #pause(ms: number): Promise<void> {
    if (this.#isWoken) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wakeUp = resolve;
      timer = setTimeout(resolve, ms).unref();
    });
    clearTimeout(timer);
  }
}
