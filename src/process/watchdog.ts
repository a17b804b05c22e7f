// The watchdog: every process of several sends heartbeats to the primary, which kills one that sends none for too long. It is then started
// again as one that has ended by itself. A process that hangs would otherwise keep its visitors and agents waiting for ever.

import type { Worker as Child } from 'node:cluster';
import { url as debuggerUrl } from 'node:inspector';
import type { Logger } from 'pino';
import { type ProcessHeartbeat, tellPrimary } from './messages.ts';

/** How often a heartbeat is sent, and how often the primary looks, within the time after which a process is killed. */
const BEATS = 10;
const CHECKS = 4;

/** Sends heartbeats from now on. @param watchdogMs as `WATCHDOG_MS`; none are sent for 0. */
export function sendHeartbeats(watchdogMs: number): void {
  if (watchdogMs === 0) return;
  const everyMs = watchdogMs / BEATS;
  let dueAt = performance.now();
  const beat = () => {
    const now = performance.now();
    tellPrimary({
      type: 'heartbeat',
      delayMs: Math.max(0, Math.round(now - dueAt)),
      isDebugged: debuggerUrl() !== undefined,
    });
    dueAt = now + everyMs;
  };
  beat();
  setInterval(beat, everyMs).unref();
}

type WatchedChild = Pick<Child, 'process' | 'isDead'>;

interface Watched extends ProcessHeartbeat {
  /** `control`, or `worker 1`. */
  readonly name: string;
  heardAt: number;
}

/** Of the primary. */
export class Watchdog {
  readonly #ms: number;
  readonly #log: Logger;
  readonly #onKill: (name: string) => void;
  readonly #now: () => number;
  readonly #watched = new Map<WatchedChild, Watched>();
  #checkedAt: number;

  /**
   * @param ms after how long without a heartbeat a process is killed, in milliseconds; 0: never.
   * @param onKill called with the name of a process that was killed.
   * @param now a monotonic clock, in milliseconds.
   */
  constructor(ms: number, log: Logger, onKill: (name: string) => void, now: () => number = () => performance.now()) {
    this.#ms = ms;
    this.#log = log;
    this.#onKill = onKill;
    this.#now = now;
    this.#checkedAt = now();
    if (ms > 0) setInterval(() => this.check(), ms / CHECKS).unref();
  }

  /** A process has sent a heartbeat. It is watched from its first one on. Of one that has ended, messages may still come. */
  heard(child: WatchedChild, name: string, { delayMs, isDebugged }: ProcessHeartbeat): void {
    if (child.isDead()) return;
    this.#watched.set(child, { name, delayMs, isDebugged, heardAt: this.#now() });
  }

  /** A process has ended. */
  ended(child: WatchedChild): void {
    this.#watched.delete(child);
  }

  /** Kills the processes that have been silent for too long. It is called by a timer. */
  check(): void {
    const now = this.#now();
    // The primary itself was stopped, as in a machine that was suspended: the heartbeats of that time were not sent, or are still unread.
    const wasStopped = now - this.#checkedAt > this.#ms / 2;
    this.#checkedAt = now;
    for (const [child, watched] of this.#watched) {
      const silentMs = Math.round(now - watched.heardAt);
      if (wasStopped) watched.heardAt = now;
      else if (!watched.isDebugged && silentMs >= this.#ms) this.#kill(child, watched, silentMs);
    }
  }

  #kill(child: WatchedChild, { name, delayMs }: Watched, silentMs: number): void {
    this.#watched.delete(child);
    const about = { process: name, pid: child.process.pid, silentMs, lastDelayMs: delayMs };
    this.#log.error(about, 'a process is unresponsive: it has sent no heartbeat for WATCHDOG_MS; killing it');
    child.process.kill('SIGKILL');
    this.#onKill(name);
  }
}
