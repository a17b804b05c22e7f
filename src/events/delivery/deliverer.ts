// Delivers the events that wait: leases the queues of destinations that are due, delivers from each for a time slice, and waits
// for more.

import type { DeliveryCounters } from './counters.ts';
import { deliverBatches, NO_PROGRESS } from './deliver-batches.ts';
import type { DestinationQueueStore, LeasedQueue } from './destination-queue.ts';
import { type OpenSink, OpenSinks } from './open-sinks.ts';

/** All in milliseconds, except `queuesMax`. The time slice of a queue and its last request must end before the lease does. */
export interface DeliverySettings {
  /** How many queues are delivered from at the same time. */
  queuesMax: number;
  leaseMs: number;
  /** How long a queue is delivered from before others that are due come first. */
  sliceMs: number;
  requestMs: number;
  /** How often the store is asked for due queues when nothing calls `wake`. */
  pollMs: number;
  /** How long to wait after `wake`: events come in bursts, and one delivery for many costs little more than one for each. */
  lingerMs: number;
  /** How long requests in progress may take when the deliverer is closed. */
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
/** How many stored bytes one queue reads at once, at least and at most; and all queues together. */
const READ_MIN = 64 * KB;
const READ_MAX = 256 * KB;
const READ_ALL = 16 * 1024 * KB;

export interface DelivererDeps {
  queues: DestinationQueueStore;
  openSink: OpenSink;
  /** In [0, 1). */
  random(): number;
  /** Milliseconds, monotonic. */
  now(): number;
  /** The wall clock, in milliseconds. */
  wallClock?(): number;
  counters: DeliveryCounters;
  /** Called once when the store fails, and again only after it has worked in between. */
  onFailure(error: unknown): void;
  settings?: Partial<DeliverySettings>;
}

interface Delivery {
  /** Never rejects. */
  done: Promise<void>;
  /** Ends the request in progress. */
  controller: AbortController;
}

export class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #settings: DeliverySettings;
  readonly #sinks: OpenSinks;
  /** By destination. */
  readonly #deliveries = new Map<string, Delivery>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #running: Promise<void> | undefined;
  #isClosing = false;
  #isFailing = false;
  #isWoken = false;
  #wakeUp = () => {};

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    this.#settings = { ...DEFAULTS, ...deps.settings };
    this.#sinks = new OpenSinks(deps.openSink, deps.now);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Says that there may be something to deliver. */
  wake(): void {
    this.#isWoken = true;
    this.#wakeUp();
  }

  /**
   * Stops. Requests in progress have `drainMs` to end. Delivered events are settled and leases end, so that another node can
   * continue at once.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.wake();
    const drained = setTimeout(() => {
      for (const { controller } of this.#deliveries.values()) controller.abort();
    }, this.#settings.drainMs);
    await this.#running;
    await Promise.all(Array.from(this.#deliveries.values(), ({ done }) => done));
    clearTimeout(drained);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#sinks.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      this.#isWoken = false;
      await this.#claimAll().catch((error) => this.#reportFailure(error));
      this.#sinks.sweep();
      await this.#pause(this.#settings.pollMs);
      if (!this.#isClosing) await new Promise<void>((resolve) => this.#after(this.#settings.lingerMs, resolve));
    }
  }

  async #claimAll(): Promise<void> {
    const { queues, now } = this.#deps;
    while (!this.#isClosing && this.#deliveries.size < this.#settings.queuesMax) {
      const claimedAt = now();
      const queue = await queues.claim(this.#settings.leaseMs);
      this.#isFailing = false;
      if (!queue) return;
      // If the lease of an earlier delivery ended before the delivery did, its request no longer counts. It may go to a target
      // that was replaced and does not answer, so it is aborted; the new delivery starts when it has ended, never beside it.
      const previous = this.#deliveries.get(queue.destinationId);
      previous?.controller.abort();
      const controller = new AbortController();
      const done = Promise.resolve(previous?.done).then(() => this.#deliver(queue, claimedAt, controller.signal));
      const delivery: Delivery = { done, controller };
      this.#deliveries.set(queue.destinationId, delivery);
      void done.then(() => {
        if (this.#deliveries.get(queue.destinationId) === delivery) this.#deliveries.delete(queue.destinationId);
        this.wake();
      });
    }
  }

  /** Never rejects. @param claimedAt the earliest time at which the lease can have begun. */
  async #deliver(queue: LeasedQueue, claimedAt: number, signal: AbortSignal): Promise<void> {
    const { now, wallClock = Date.now } = this.#deps;
    const mayContinue = () => !this.#isClosing && now() < claimedAt + this.#settings.sliceMs;
    const bytes = () => Math.min(READ_MAX, Math.max(READ_MIN, READ_ALL / this.#deliveries.size));
    const deps = {
      ...this.#deps,
      wallClock,
      sinks: this.#sinks,
      signal,
      settings: this.#settings,
    };
    try {
      const ms = await deliverBatches(queue, deps, { mayContinue, bytes });
      if (ms !== undefined) this.#wakeIn(ms);
    } catch (error) {
      this.#reportFailure(error);
      await this.#releaseLease(queue, claimedAt);
    }
  }

  /** Ends a lease as soon as the store answers again, so that the queue need not wait until the lease expires. */
  async #releaseLease(queue: LeasedQueue, claimedAt: number): Promise<void> {
    const { queues, now } = this.#deps;
    const { leaseMs, pollMs } = this.#settings;
    while (!this.#isClosing && now() < claimedAt + leaseMs) {
      await new Promise<void>((resolve) => this.#after(pollMs, resolve));
      try {
        await queues.settle(queue, NO_PROGRESS, { kind: 'release' }, leaseMs);
        return;
      } catch {
        // The failure was reported already.
      }
    }
  }

  #reportFailure(error: unknown): void {
    if (!this.#isFailing) this.#deps.onFailure(error);
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

  /** Waits until `wake` is called, at most so many milliseconds. */
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
