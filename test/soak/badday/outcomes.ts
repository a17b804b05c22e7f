// How each piece of work of an honest client went, and when: the time of recovery is read from it.

export interface Outcome {
  /** Milliseconds of `performance.now()`. */
  began: number;
  ended: number;
  /** What it failed with. */
  failure: string | undefined;
}

export class Outcomes {
  #all: Outcome[] = [];

  async time(work: () => Promise<void>): Promise<void> {
    const began = performance.now();
    const failure = await work().then(
      () => undefined,
      (error: unknown) => String(error instanceof Error ? error.message : error),
    );
    this.#all.push({ began, ended: performance.now(), failure });
  }

  /** Those that ended after a moment. */
  since(moment: number): Outcome[] {
    return this.#all.filter(({ ended }) => ended >= moment);
  }

  /**
   * How long after a moment the work succeeded again, for good as far as was seen; 0 where nothing failed after it.
   * @returns undefined when it has not succeeded since its last failure, or not since the moment.
   */
  recovery(moment: number): number | undefined {
    const later = this.since(moment);
    const lastFailed = later.findLastIndex(({ failure }) => failure !== undefined);
    const first = later[lastFailed + 1];
    if (!first) return undefined;
    return lastFailed === -1 ? 0 : first.ended - moment;
  }

  /** When the work failed last. */
  lastFailure(): number {
    return this.#all.findLast(({ failure }) => failure !== undefined)?.ended ?? Number.NEGATIVE_INFINITY;
  }
}
