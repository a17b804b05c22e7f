// The generations of a gateway: a control process and workers that run the same code. An upgrade starts the next one beside the one
// that runs, and lets that one end when the next one has served for a while. If it does not come to that, the one that runs goes on: its
// workers have kept their agents, and still take visitors.

import type { Logger } from 'pino';
import { waitAtMost } from '../runtime/wait-at-most.ts';
import { type Children, controlRole, type Slot, workerRole } from './children.ts';
import type { ServiceManager } from './service-manager.ts';

/** How long the processes of a new generation may take until they serve; milliseconds. */
const READY_MS = 60_000;
/** How long the control process may take to hand the database over; milliseconds. */
const HAND_OVER_MS = 15_000;
/** How long an upgrade waits until the moves under way are over, which take up to 2 s as a rule; milliseconds. */
const PAUSE_MOVES_MS = 5000;
/** Earlier generations that may drain when an upgrade begins: before it, the oldest of more are ended. */
const DRAINING_MAX = 2;

interface Generation {
  readonly exec: string;
  readonly control: Slot;
  readonly workers: readonly Slot[];
}

/** What becomes of upgrades. */
export type UpgradeOutcome = 'done' | 'failed' | 'taken_back';

export interface GenerationsOptions {
  children: Children;
  workers: number;
  /** As `UPGRADE_SETTLE_MS`. */
  settleMs: number;
  manager: Pick<ServiceManager, 'reloading' | 'ready'>;
  log: Logger;
}

export class Generations {
  readonly #options: GenerationsOptions;
  #current: Generation | undefined;
  readonly #draining: (readonly Slot[])[] = [];
  #isUpgrading = false;
  /** How many upgrades there were. */
  readonly upgrades: Record<UpgradeOutcome, number> = { done: 0, failed: 0, taken_back: 0 };

  constructor(options: GenerationsOptions) {
    this.#options = options;
  }

  get control(): Slot | undefined {
    return this.#current?.control;
  }

  /** The file that the running generation was started from. */
  get exec(): string | undefined {
    return this.#current?.exec;
  }

  /** Starts the first generation. @throws when one of its processes ends before it serves. */
  async start(exec: string): Promise<void> {
    const { children } = this.#options;
    const control = children.start(controlRole, exec);
    this.#current = { exec, control, workers: this.#startWorkers(exec) };
    await Promise.all(
      [control, ...this.#current.workers].map(async (slot) => {
        await children.message(slot, 'ready');
        children.settle(slot);
      }),
    );
  }

  /**
   * Replaces the running generation.
   * @param exec the file that the processes of the next one run.
   * @throws when the next one does not come to serve, or one of its processes ends by itself within `settleMs` of that: the running one
   * goes on. The message has what they logged last.
   */
  async upgrade(exec: string): Promise<void> {
    const before = this.#current;
    if (!before) throw new Error('the gateway is still starting');
    if (this.#isUpgrading) throw new Error('an upgrade is under way already');
    const { children, manager } = this.#options;
    this.#isUpgrading = true;
    manager.reloading();
    const moving = [...this.#draining.flat(), ...before.workers].filter((slot) => children.slots.has(slot));
    try {
      await this.#pauseMoves(moving);
      await this.#upgrade(before, exec);
      this.upgrades.done++;
    } finally {
      for (const slot of moving) children.tell(slot, { type: 'resumeMoves' });
      this.#isUpgrading = false;
      manager.ready();
    }
  }

  /**
   * Has workers move no agents during an upgrade: workers that have just started do not hear that an endpoint moves, while the control
   * process is replaced no agent could connect elsewhere, and no agent is to depend on processes that may be taken back.
   */
  async #pauseMoves(moving: readonly Slot[]): Promise<void> {
    const { children } = this.#options;
    // One that ends meanwhile has no agents any more.
    const paused = Promise.allSettled(moving.map((slot) => children.message(slot, 'movesPaused')));
    for (const slot of moving) children.tell(slot, { type: 'pauseMoves' });
    await waitAtMost(PAUSE_MOVES_MS, paused);
  }

  async #upgrade(before: Generation, exec: string): Promise<void> {
    const { children, log } = this.#options;
    log.info({ exec }, 'upgrade: starting new processes');
    this.#endOldest();
    const workers = this.#startWorkers(exec);
    const started: Slot[] = [...workers];
    let next: Generation;
    try {
      await inTime(READY_MS, Promise.all(workers.map((slot) => children.message(slot, 'ready'))));
      const control = children.start(controlRole, exec, true);
      started.push(control);
      await inTime(READY_MS, children.message(control, 'standby'));
      await this.#handOver(before.control, control);
      next = { exec, control, workers };
    } catch (error) {
      this.upgrades.failed++;
      for (const slot of started) children.kill(slot);
      if (before.control.isEnding) this.#current = { ...before, control: this.#startControlAgain(before.exec) };
      log.error({ err: { message: (error as Error).message } }, 'upgrade failed: the processes before go on');
      throw error;
    }
    this.#current = next;
    await this.#settle(next, before);
    for (const slot of before.workers) children.end(slot, { type: 'drain' });
    this.#draining.push(before.workers);
    log.info('upgrade: the new processes serve; those before drain');
  }

  /** Waits until the new processes have served for a while. @throws when one of them ends by itself; they are taken back then. */
  async #settle(next: Generation, before: Generation): Promise<void> {
    const { children, settleMs, log } = this.#options;
    const slots = [next.control, ...next.workers];
    if (settleMs > 0)
      log.info({ ms: settleMs }, 'upgrade: the new processes serve, beside those before until they have settled');
    const startedAt = performance.now();
    const ended = await waitAtMost(
      settleMs,
      Promise.race(
        slots.map(async (slot) => {
          await children.ended(slot);
          return { slot, why: children.describeEnd(slot) };
        }),
      ),
    );
    if (!ended) {
      for (const slot of slots) children.settle(slot);
      return;
    }
    if (ended.slot.isEnding) throw new Error('the gateway is stopping');
    this.upgrades.taken_back++;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    log.error(
      { exec: next.exec, process: ended.slot.role.name, seconds },
      'upgrade: a new process has ended; taking the version back',
    );
    await this.#takeBack(next, before);
    log.error({ exec: before.exec }, 'upgrade taken back: the version before serves');
    throw new Error(`The version was taken back, as it did not last: after ${seconds} s ${ended.why}`);
  }

  /** The workers before have never left. The control process before has: it starts again. */
  async #takeBack(next: Generation, before: Generation): Promise<void> {
    const { children } = this.#options;
    for (const slot of next.workers) children.end(slot, { type: 'drain' });
    this.#draining.push(next.workers);
    const control = children.start(controlRole, before.exec, true);
    this.#current = { ...before, control };
    try {
      await inTime(READY_MS, children.message(control, 'standby'));
      await this.#handOver(next.control, control);
      children.settle(control);
    } catch {
      for (const slot of [control, next.control]) children.kill(slot);
      this.#current = { ...before, control: this.#startControlAgain(before.exec) };
    }
  }

  /** Ends the oldest generations when too many drain: their streams are cut, and their agents connect anew. */
  #endOldest(): void {
    const { children, log } = this.#options;
    const alive = this.#draining.filter((slots) => slots.some((slot) => children.slots.has(slot)));
    this.#draining.splice(0, this.#draining.length, ...alive);
    while (this.#draining.length > DRAINING_MAX) {
      log.warn('too many generations of processes drain: the streams of the oldest are cut');
      for (const slot of this.#draining.shift() ?? []) children.end(slot, { type: 'cut' });
    }
  }

  #startWorkers(exec: string): Slot[] {
    const { children, workers } = this.#options;
    return Array.from({ length: workers }, (_, index) => children.start(workerRole(index), exec));
  }

  /** The new control process takes the place of the one before, which closes the database first. Workers wait for that. */
  async #handOver(before: Slot, control: Slot): Promise<void> {
    const { children } = this.#options;
    const startedAt = performance.now();
    // One that has ended has nothing to hand over.
    const handedOver = before.child.isDead() ? Promise.resolve() : children.message(before, 'handedOver');
    children.end(before, { type: 'handOver' });
    await inTime(HAND_OVER_MS, handedOver).catch(() => {
      children.kill(before);
      return children.ended(before);
    });
    const ready = children.message(control, 'ready');
    children.tell(control, { type: 'takeOver' });
    await inTime(READY_MS, ready);
    const ms = Math.round(performance.now() - startedAt);
    this.#options.log.info({ ms }, 'upgrade: the new control process serves');
  }

  #startControlAgain(exec: string): Slot {
    const { children } = this.#options;
    const control = children.start(controlRole, exec, true);
    children.settle(control);
    children.message(control, 'standby').then(
      () => children.tell(control, { type: 'takeOver' }),
      () => undefined, // It is started again.
    );
    return control;
  }
}

/** @throws what `work` fails with, or an error when it takes longer than `ms` milliseconds. */
async function inTime<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${ms / 1000} s`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
