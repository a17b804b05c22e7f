// The processes of a gateway that the primary has started, and restarts when they end by themselves.

import cluster, { type Worker as Child } from 'node:cluster';
import type { Logger } from 'pino';
import { clearCounts } from '../net/connection-counts.ts';
import {
  type ChildMessage,
  COUNTS_FD,
  COUNTS_RECORD,
  IS_REPLACEMENT,
  type PrimaryMessage,
  ROLE,
  WORKER_INDEX,
} from './messages.ts';
import { Watchdog } from './watchdog.ts';

/** The pauses before a process that has ended is started again, in milliseconds. They grow while it ends again and again. */
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 10_000;
/** A process that has served for so long starts the pauses anew; milliseconds. */
const STABLE_MS = 10_000;
/** So many starts in a row that did not come to serve are the end. */
const FAILED_STARTS_MAX = 5;

/** What a process is to be. */
export interface Role {
  /** `control`, or `worker 1`. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A place for a process: the control process, or one of the workers. */
export interface Slot {
  readonly role: Role;
  /** The file that its processes run. */
  readonly exec: string;
  /** Its place in the file of counts. */
  readonly record: number;
  child: Child;
  /** What it is told as soon as it listens; undefined when it does. */
  untold: PrimaryMessage[] | undefined;
  /** Whether it has served once. Until then, it is not started again: whoever started it decides. */
  hasServed: boolean;
  /** Starts in a row that did not come to serve. */
  failedStarts: number;
  pauseMs: number;
  /** Whether its end is wanted: it is not started again. */
  isEnding: boolean;
}

export interface ChildrenOptions {
  log: Logger;
  /** The environment of all processes. */
  env: Readonly<Record<string, string>>;
  /** The file in which workers count their connections. */
  counts: number;
  /** As `WATCHDOG_MS`. */
  watchdogMs: number;
  /** Called when a process cannot be started any more. */
  onFailure(slot: Slot): void;
}

export const controlRole: Role = { name: 'control', env: { [ROLE]: 'control' } };
export const workerRole = (index: number): Role => ({
  name: `worker ${index + 1}`,
  env: { [ROLE]: 'worker', [WORKER_INDEX]: String(index) },
});

export class Children {
  readonly #options: ChildrenOptions;
  readonly #watchdog: Watchdog;
  /** How often each was killed by the watchdog, by the names of roles. */
  readonly #kills: Record<string, number> = {};
  readonly slots = new Set<Slot>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
    this.#watchdog = new Watchdog(options.watchdogMs, options.log, (name) => {
      this.#kills[name] = (this.#kills[name] ?? 0) + 1;
      for (const slot of this.slots) this.#tellKills(slot);
    });
  }

  /**
   * Starts a process, and starts it again when it ends by itself.
   * @param isReplacement whether it waits in standby, until it is told to take over.
   */
  start(role: Role, exec: string, isReplacement = false): Slot {
    const env: Record<string, string> = isReplacement ? { [IS_REPLACEMENT]: '1' } : {};
    const record = this.#freeRecord();
    const child = this.#fork({ role, exec, record }, env);
    const slot: Slot = {
      ...{ role, exec, record, child, untold: [], hasServed: false },
      ...{ failedStarts: 0, pauseMs: RESTART_MIN_MS, isEnding: false },
    };
    this.slots.add(slot);
    this.#watch(slot);
    return slot;
  }

  /** Waits until the process in a slot says that it serves, or is in standby. @throws when it ends before. */
  async message({ child, role }: Slot, type: ChildMessage['type']): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      child.on('message', (message: ChildMessage) => message.type === type && resolve());
      child.once('exit', (code, signal) =>
        reject(new Error(`${role.name} has ended (${signal ?? code}); the log of the gateway says why`)),
      );
    });
  }

  /** Sends a message to a process, if it runs. */
  tell({ child, untold }: Slot, message: PrimaryMessage): void {
    if (!child.isConnected()) return;
    if (untold) untold.push(message);
    else child.send(message);
  }

  /** Tells a process to end, and does not start it again. */
  end(slot: Slot, message: PrimaryMessage): void {
    slot.isEnding = true;
    this.tell(slot, message);
  }

  /** Ends a process at once. */
  kill(slot: Slot): void {
    slot.isEnding = true;
    slot.child.process.kill('SIGKILL');
  }

  killAll(): void {
    for (const slot of this.slots) this.kill(slot);
  }

  /** Waits until a process has ended. @returns its exit code. */
  async ended({ child }: Slot): Promise<number | null> {
    if (!child.isDead()) await new Promise<void>((resolve) => child.once('exit', () => resolve()));
    return child.process.exitCode;
  }

  #tellKills(slot: Slot): void {
    if (slot.role === controlRole) this.tell(slot, { type: 'watchdogKills', kills: this.#kills });
  }

  #freeRecord(): number {
    const taken = new Set([...this.slots].map(({ record }) => record));
    let record = 0;
    while (taken.has(record)) record++;
    return record;
  }

  #fork({ role, exec, record }: Pick<Slot, 'role' | 'exec' | 'record'>, more: Record<string, string>): Child {
    const { env, counts } = this.#options;
    const stdio = ['inherit', 'inherit', 'inherit', 'ipc'] as (string | number)[];
    stdio[COUNTS_FD] = counts;
    cluster.setupPrimary({ exec, stdio });
    return cluster.fork({ ...env, ...role.env, ...more, [COUNTS_RECORD]: String(record) });
  }

  #watch(slot: Slot): void {
    const { child } = slot;
    let readyAt = Number.NaN;
    child.on('message', (message: ChildMessage) => {
      if (message.type === 'heartbeat') this.#watchdog.heard(child, slot.role.name, message);
      if (message.type === 'listens') {
        const { untold = [] } = slot;
        slot.untold = undefined;
        for (const late of untold) this.tell(slot, late);
        this.#tellKills(slot);
      }
      if (message.type !== 'ready') return;
      readyAt = performance.now();
      slot.hasServed = true;
      slot.failedStarts = 0;
    });
    child.once('exit', (code, signal) => {
      this.#watchdog.ended(child);
      clearCounts(this.#options.counts, slot.record);
      if (slot.isEnding || !slot.hasServed) return void this.slots.delete(slot);
      if (Number.isNaN(readyAt)) slot.failedStarts++;
      if (performance.now() - readyAt >= STABLE_MS) slot.pauseMs = RESTART_MIN_MS;
      this.#restart(slot, signal ?? code);
    });
  }

  #restart(slot: Slot, cause: string | number): void {
    const { log, onFailure } = this.#options;
    if (slot.failedStarts >= FAILED_STARTS_MAX) {
      onFailure(slot);
      return;
    }
    log.error({ process: slot.role.name, cause, pauseMs: slot.pauseMs }, 'a process has ended; starting it again');
    setTimeout(() => {
      if (slot.isEnding) return void this.slots.delete(slot);
      slot.child = this.#fork(slot, { [IS_REPLACEMENT]: '1' });
      slot.untold = [];
      this.#watch(slot);
      // Nobody is there to take over from.
      this.message(slot, 'standby').then(
        () => this.tell(slot, { type: 'takeOver' }),
        () => undefined, // It is started again.
      );
    }, slot.pauseMs);
    slot.pauseMs = Math.min(RESTART_MAX_MS, slot.pauseMs * 2);
  }
}
