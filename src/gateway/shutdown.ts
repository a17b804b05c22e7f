// Stopping what was started: the latest first. No step can keep the next from being done.

import type { Logger } from 'pino';
import { describeFailure } from '../api/failure.ts';

/** How long a step may take; milliseconds. */
const STEP_MS = 2500;
/** How long all of them may take that have no limit of their own; milliseconds. */
const ALL_MS = 5000;
/** What each step has when that is over; milliseconds. */
const LEAST_MS = 250;

interface Step {
  name: string;
  stop(): unknown;
  limitMs: number | undefined;
}

export class Shutdown {
  readonly #steps: Step[] = [];
  readonly #log: Logger;

  /** @param log told of each step that fails or takes too long: that goes on, but is not waited for. */
  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param limitMs for a step that is to be waited for longer than others; milliseconds. */
  add(name: string, stop: () => unknown, limitMs?: number): void {
    this.#steps.push({ name, stop, limitMs });
  }

  /** Does all steps, each once. It never rejects. */
  async run(): Promise<void> {
    const deadline = performance.now() + ALL_MS;
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      const { name, stop, limitMs } = step;
      const left = Math.min(STEP_MS, Math.max(LEAST_MS, deadline - performance.now()));
      await within(limitMs ?? left, stop).catch((error: unknown) =>
        this.#log.error({ step: name, err: describeFailure(error) }, 'a step of stopping failed'),
      );
    }
  }
}

async function within(ms: number, work: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${Math.round(ms)} ms`)), ms);
  });
  try {
    await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
