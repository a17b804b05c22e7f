// The processes of a gateway that the primary has started, and restarts when they end by themselves.

import cluster, { type Worker as Child } from 'node:cluster';
import type { Logger } from 'pino';
import { type ChildMessage, IS_REPLACEMENT, type PrimaryMessage, ROLE, WORKER_INDEX } from './messages.ts';

/** The pauses before a process that has ended is started again, in milliseconds. They grow while it ends again and again. */
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 10_000;
/** A process that has served for so long starts the pauses anew; milliseconds. */
const STABLE_MS = 10_000;
/** So many starts in a row that did not come to serve are the end. */
const FAILED_STARTS_MAX = 5;

/** A place for a process: the control process, or one of the workers. */
export interface Slot {
  /** `control`, or `worker 1`. */
  readonly name: string;
  readonly env: Record<string, string>;
  child: Child | undefined;
  isReady: boolean;
  /** Starts in a row that did not come to serve. */
  failedStarts: number;
  pauseMs: number;
  /** Whether its end is wanted. */
  isEnding: boolean;
}

export interface ChildrenOptions {
  log: Logger;
  /** The environment of all processes. */
  env: Record<string, string>;
  /** Called when a process cannot be started any more. */
  onFailure(slot: Slot): void;
  /** Called when a control process serves that replaces another, or a worker. */
  onReady?(slot: Slot): void;
}

export class Children {
  readonly #options: ChildrenOptions;
  readonly slots = new Set<Slot>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  /** Starts a process, and starts it again when it ends. Resolves when it serves. @throws when it ends before it has served once. */
  start(name: string, env: Record<string, string>): { slot: Slot; ready: Promise<void> } {
    const slot: Slot = {
      ...{ name, env, child: undefined, isReady: false },
      ...{ failedStarts: 0, pauseMs: RESTART_MIN_MS, isEnding: false },
    };
    this.slots.add(slot);
    return { slot, ready: this.#fork(slot, {}) };
  }

  /** Sends a message to a process, if it runs. */
  tell({ child }: Slot, message: PrimaryMessage): void {
    if (child?.isConnected()) child.send(message);
  }

  /** Waits until a process has ended. */
  async ended({ child }: Slot): Promise<void> {
    if (!child || child.isDead()) return;
    await new Promise<void>((resolve) => child.once('exit', () => resolve()));
  }

  /** Waits for a message of a process. @throws when it ends before. */
  message({ child, name }: Slot, type: ChildMessage['type']): Promise<void> {
    return new Promise((resolve, reject) => {
      child?.on('message', (message: ChildMessage) => message.type === type && resolve());
      child?.once('exit', () => reject(new Error(`${name} has ended`)));
    });
  }

  /** Starts no process any more. @param kill ends those that run, at once. */
  end(kill = false): void {
    for (const slot of this.slots) {
      slot.isEnding = true;
      if (kill) slot.child?.process.kill('SIGKILL');
    }
  }

  #fork(slot: Slot, more: Record<string, string>): Promise<void> {
    const { env, onReady } = this.#options;
    const child = cluster.fork({ ...env, ...slot.env, ...more });
    slot.child = child;
    slot.isReady = false;
    return new Promise((resolve, reject) => {
      let readyAt = Number.NaN;
      child.on('message', ({ type }: ChildMessage) => {
        if (type === 'standby' && more[IS_REPLACEMENT]) this.tell(slot, { type: 'takeOver' });
        if (type !== 'ready') return;
        readyAt = performance.now();
        slot.isReady = true;
        slot.failedStarts = 0;
        onReady?.(slot);
        resolve();
      });
      child.once('exit', (code, signal) => {
        const isStable = performance.now() - readyAt >= STABLE_MS;
        reject(new Error(`${slot.name} has ended (${signal ?? code})`));
        slot.child = undefined;
        if (slot.isEnding) return void this.slots.delete(slot);
        if (Number.isNaN(readyAt)) slot.failedStarts++;
        if (isStable) slot.pauseMs = RESTART_MIN_MS;
        this.#restart(slot, signal ?? code);
      });
    });
  }

  #restart(slot: Slot, cause: string | number): void {
    const { log, onFailure } = this.#options;
    if (slot.failedStarts >= FAILED_STARTS_MAX) {
      onFailure(slot);
      return;
    }
    log.error({ process: slot.name, cause, pauseMs: slot.pauseMs }, 'a process has ended; starting it again');
    setTimeout(() => {
      if (!slot.isEnding) this.#fork(slot, { [IS_REPLACEMENT]: '1' }).catch(() => undefined); // It is restarted again.
    }, slot.pauseMs);
    slot.pauseMs = Math.min(RESTART_MAX_MS, slot.pauseMs * 2);
  }
}

export const controlSlot = { name: 'control', env: { [ROLE]: 'control' } };
export const workerSlot = (index: number) => ({
  name: `worker ${index + 1}`,
  env: { [ROLE]: 'worker', [WORKER_INDEX]: String(index) },
});
