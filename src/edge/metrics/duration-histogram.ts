// How long requests and connections take, counted for a histogram. Every request passes here twice, so that it costs a comparison or a few
// and an addition, without labels to be looked up or objects to be made.

/** Upper bounds of what is counted together; milliseconds. What takes longer than the last is counted beyond it. */
export const BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 3_600_000,
];

export class DurationHistogram {
  /** For each bound how many were up to it and above the one before; at the end those above all. */
  readonly counts: number[] = [...BOUNDS_MS, 0].fill(0);
  /** Of all together; milliseconds. */
  sum = 0;

  /** @param milliseconds by a clock that never goes back. */
  observe(milliseconds: number): void {
    let at = 0;
    while (at < BOUNDS_MS.length && milliseconds > (BOUNDS_MS[at] as number)) at++;
    this.counts[at] = (this.counts[at] as number) + 1;
    this.sum += milliseconds;
  }
}
