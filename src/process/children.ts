// The processes of a gateway that the primary has started, and restarts when they end by themselves.

import cluster, { type Worker as Child } from 'node:cluster';
import { closeSync } from 'node:fs';
import type { Logger } from 'pino';
import { clearCounts } from '../net/connection-counts.ts';
import { openTail, readTail, TAIL, TAIL_FD } from './log-tail.ts';
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
  /** Whether it is started again when it ends by itself. Until it is settled, whoever started it decides. */
  isSettled: boolean;
  /** The file with its last log lines, until it is settled or has ended, and what was in it then. */
  tail: number | undefined;
  lastLines: readonly string[];
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
  /** For files that have no name. */
  directory: string;
  /** The file in which workers count their connections. */
  counts: number;
  /** As `WATCHDOG_MS`. */
  watchdogMs: number;
  /** Called when a process cannot be started any more. */
  onFailure(slot: Slot): void;
}

/** Follows what processes say. */
export interface ChildrenListener {
  /** A process says something. It may have ended meanwhile. */
  heard(slot: Slot, child: Child, message: ChildMessage): void;
  /** A process has ended, and nothing more of it is heard. */
  ended(child: Child): void;
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
  readonly kills: ReadonlyMap<string, number>;
  readonly slots = new Set<Slot>();
  readonly #listeners = new Set<ChildrenListener>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
    const kills = new Map<string, number>();
    this.kills = kills;
    this.#watchdog = new Watchdog(options.watchdogMs, options.log, (name) =>
      kills.set(name, (kills.get(name) ?? 0) + 1),
    );
  }

  follow(listener: ChildrenListener): void {
    this.#listeners.add(listener);
  }

  /**
   * Starts a process. Once it is settled, it is started again when it ends by itself.
   * @param isReplacement whether it waits in standby, until it is told to take over.
   */
  start(role: Role, exec: string, isReplacement = false): Slot {
    const env: Record<string, string> = isReplacement ? { [IS_REPLACEMENT]: '1' } : {};
    const record = this.#freeRecord();
    const tail = openTail(this.#options.directory);
    const child = this.#fork({ role, exec, record, tail }, env);
    const slot: Slot = {
      ...{ role, exec, record, child, untold: [], isSettled: false, tail, lastLines: [] },
      ...{ failedStarts: 0, pauseMs: RESTART_MIN_MS, isEnding: false },
    };
    this.slots.add(slot);
    this.#watch(slot);
    return slot;
  }

  /** A process has proved itself: from now on it is started again when it ends by itself. */
  settle(slot: Slot): void {
    slot.isSettled = true;
    this.tell(slot, { type: 'settled' });
    closeTail(slot);
    slot.lastLines = [];
  }

  /** How a process has ended, and what it logged last. */
  describeEnd({ role, child, lastLines }: Slot): string {
    const { signalCode, exitCode } = child.process;
    return [`${role.name} has ended (${signalCode ?? exitCode})`, ...lastLines].join('\n');
  }

  /** Waits until the process in a slot says something, as that it serves. @throws when it ends before. */
  async message(slot: Slot, type: ChildMessage['type']): Promise<void> {
    const { child } = slot;
    await new Promise<void>((resolve, reject) => {
      const heard = (message: ChildMessage) => {
        if (message.type !== type) return;
        child.off('message', heard).off('exit', ended);
        resolve();
      };
      const ended = () => {
        child.off('message', heard);
        reject(new Error(this.describeEnd(slot)));
      };
      child.on('message', heard).once('exit', ended);
    });
  }

  /** Sends a message to a process, if it runs. */
  tell({ child, untold }: Slot, message: PrimaryMessage): void {
    if (!child.isConnected()) return;
    if (untold) untold.push(message);
    // One that was killed may not be known to have ended: without a callback, what cannot be sent to it would end the primary.
    else child.send(message, () => {});
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

  #forget(slot: Slot): void {
    this.slots.delete(slot);
    closeTail(slot);
  }

  #freeRecord(): number {
    const taken = new Set([...this.slots].map(({ record }) => record));
    let record = 0;
    while (taken.has(record)) record++;
    return record;
  }

  #fork(
    { role, exec, record, tail }: Pick<Slot, 'role' | 'exec' | 'record' | 'tail'>,
    more: Record<string, string>,
  ): Child {
    const { env, counts } = this.#options;
    const stdio = ['inherit', 'inherit', 'inherit', 'ipc'] as (string | number)[];
    stdio[COUNTS_FD] = counts;
    if (tail !== undefined) stdio[TAIL_FD] = tail;
    cluster.setupPrimary({ exec, stdio });
    const tailEnv: Record<string, string> = tail === undefined ? {} : { [TAIL]: String(TAIL_FD) };
    return cluster.fork({ ...env, ...role.env, ...more, ...tailEnv, [COUNTS_RECORD]: String(record) });
  }

  #watch(slot: Slot): void {
    const { child } = slot;
    let readyAt = Number.NaN;
    child.on('message', (message: ChildMessage) => {
      for (const listener of this.#listeners) listener.heard(slot, child, message);
      if (message.type === 'heartbeat') this.#watchdog.heard(child, slot.role.name, message);
      if (message.type === 'listens') {
        const { untold = [] } = slot;
        slot.untold = undefined;
        for (const late of untold) this.tell(slot, late);
      }
      if (message.type !== 'ready') return;
      readyAt = performance.now();
      slot.failedStarts = 0;
    });
    child.once('disconnect', () => {
      for (const listener of this.#listeners) listener.ended(child);
    });
    child.once('exit', (code, signal) => {
      this.#watchdog.ended(child);
      clearCounts(this.#options.counts, slot.record);
      if (slot.isEnding || !slot.isSettled) return this.#forget(slot);
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
      if (slot.isEnding) return this.#forget(slot);
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

function closeTail(slot: Slot): void {
  if (slot.tail === undefined) return;
  slot.lastLines = readTail(slot.tail);
  closeSync(slot.tail);
  slot.tail = undefined;
}
