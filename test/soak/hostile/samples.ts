// How long honest clients waited, and what failed.

export interface Figures {
  count: number;
  failed: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  p99: number;
  longest: number;
}

export class Samples {
  #waits: number[] = [];
  /** What failed, as text; at most a few are kept. */
  readonly failures: string[] = [];
  #failed = 0;

  /** Runs one piece of work and notes how long it took. */
  async time(work: () => Promise<void>): Promise<void> {
    const began = performance.now();
    try {
      await work();
      this.#waits.push(performance.now() - began);
    } catch (error) {
      this.#failed++;
      if (this.failures.length < 5) this.failures.push(String(error instanceof Error ? error.message : error));
    }
  }

  /** What came since the last call. */
  take(): Figures {
    const waits = this.#waits.sort((a, b) => a - b);
    const failed = this.#failed;
    this.#waits = [];
    this.#failed = 0;
    const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(share * waits.length))] ?? Number.NaN;
    return { count: waits.length, failed, p50: at(0.5), p95: at(0.95), p99: at(0.99), longest: at(1) };
  }
}
