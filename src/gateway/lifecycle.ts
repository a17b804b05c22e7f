// The parts of a process, in the order in which they start. They stop in the opposite order.

import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeFailure } from '../runtime/describe-failure.ts';

/** How long a part may take to stop, in milliseconds. */
const STOP_MS = 2500;
/** How long all parts together may take that have no limit of their own, in milliseconds. */
const ALL_STOP_MS = 5000;
/** What each part still has when that time is over, in milliseconds. */
const LEAST_STOP_MS = 250;
/** How much longer than the time to drain a part may take to close what it cut off, in milliseconds. */
const DRAIN_GRACE_MS = 10_000;

export type Phase = 'starting' | 'serving' | 'stopping';

/** What is started once, used by the parts after it, and stopped before the parts that it uses. */
export interface Part<T> {
  /** Names the part in the log, as in `data plane`. */
  name: string;
  /** Resolves when the parts that follow can use the value. */
  start(): T | Promise<T>;
  /** @returns why the part cannot serve now, as a sentence; null when it can. Left out: it always can. */
  ready?(value: T): string | null | Promise<string | null>;
  /** Takes no new work and finishes what is under way; cuts it off after `drainMs` milliseconds. */
  drain?(value: T, drainMs: number): unknown;
  /** Releases what the part holds. */
  stop?(value: T): unknown;
  /** For a part that may take longer to stop than others, in milliseconds. */
  stopTimeoutMs?: number;
}

interface StartedPart {
  name: string;
  ready?(): string | null | Promise<string | null>;
  drain?(drainMs: number): unknown;
  stop?(): unknown;
  stopTimeoutMs?: number;
}

export class Lifecycle {
  readonly #parts: StartedPart[] = [];
  readonly #log: Logger;
  #phase: Phase = 'starting';
  #stopped: Promise<void> | undefined;

  /** @param log receives a line for each part that fails to stop, or does not stop in time. */
  constructor(log: Logger) {
    this.#log = log;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Starts a part after those that were started before. @throws what its start fails with; it is not stopped then. */
  async start<T>({ name, start, ready, drain, stop, stopTimeoutMs }: Part<T>): Promise<T> {
    const value = await start();
    this.#parts.push({
      name,
      ready: ready && (() => ready(value)),
      drain: drain && ((drainMs) => drain(value, drainMs)),
      stop: stop && (() => stop(value)),
      stopTimeoutMs,
    });
    return value;
  }

  /** To be called when all parts are started: from now on they are asked whether they are ready. */
  serve(): void {
    this.#phase = 'serving';
  }

  /** @returns why the process cannot serve now, as a sentence; null when it can. The part that was started last is asked first. */
  async reasonNotReady(): Promise<string | null> {
    if (this.#phase !== 'serving') return `The gateway is ${this.#phase}.`;
    for (const part of this.#parts.toReversed()) {
      const reason = (await part.ready?.()) ?? null;
      if (reason !== null) return reason;
    }
    return null;
  }

  /** Reports that the process is not ready, and goes on serving for `ms` milliseconds, so that load balancers notice. */
  async announceStop(ms: number): Promise<void> {
    this.#phase = 'stopping';
    if (ms > 0) await wait(ms);
  }

  /**
   * Drains all parts at the same time, then stops them one by one, the last first. A part that fails or takes too long is
   * logged and does not keep the others from stopping. It never rejects. A second call returns the result of the first.
   */
  stop(drainMs: number): Promise<void> {
    this.#phase = 'stopping';
    this.#stopped ??= this.#stopAll(drainMs);
    return this.#stopped;
  }

  async #stopAll(drainMs: number): Promise<void> {
    const parts = this.#parts.toReversed();
    await Promise.all(
      parts.map((part) => this.#attempt(part.name, 'drain', drainMs + DRAIN_GRACE_MS, () => part.drain?.(drainMs))),
    );
    const deadline = performance.now() + ALL_STOP_MS;
    for (const { name, stop, stopTimeoutMs } of parts) {
      const left = Math.min(STOP_MS, Math.max(LEAST_STOP_MS, deadline - performance.now()));
      await this.#attempt(name, 'stop', stopTimeoutMs ?? left, () => stop?.());
    }
  }

  async #attempt(part: string, step: 'drain' | 'stop', limitMs: number, work: () => unknown): Promise<void> {
    try {
      await withTimeout(limitMs, work);
    } catch (error) {
      this.#log.error({ part, step, err: describeFailure(error) }, 'a part of the gateway failed to stop; going on');
    }
  }
}

/** Starts parts. When that fails, those that were started are stopped. @throws what it fails with. */
export async function startAll<T>(log: Logger, start: (parts: Lifecycle) => Promise<T>): Promise<T> {
  const parts = new Lifecycle(log);
  try {
    return await start(parts);
  } catch (error) {
    await parts.stop(0);
    throw error;
  }
}

/** @throws what `work` fails with, or an error when it takes longer than `ms` milliseconds. */
export async function withTimeout<T>(ms: number, work: () => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${Math.round(ms)} ms`)), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
