// Outcomes of the last while, counted in buckets that are forgotten one after the other.

/** A rolling window. Its buckets are made when there is something to count, and moved on only when somebody looks. */
export class OutcomeWindow {
  requests = 0;
  failures = 0;
  readonly #bucketMs: number;
  readonly #size: number;
  /** Requests and failures of each bucket, in turn; bucket n is at n modulo the size. */
  #counts: Uint32Array | undefined;
  /** The bucket of now, as of when it was looked at last. */
  #newest = 0;

  constructor(windowMs: number, buckets: number) {
    this.#size = buckets;
    this.#bucketMs = windowMs / buckets;
  }

  /** @param now never before that of an earlier call; milliseconds. */
  add(now: number, requests: number, failures: number): void {
    this.moveTo(now);
    const counts = this.#counts ?? new Uint32Array(2 * this.#size);
    this.#counts = counts;
    const at = 2 * (this.#newest % this.#size);
    counts[at] = (counts[at] as number) + requests;
    counts[at + 1] = (counts[at + 1] as number) + failures;
    this.requests += requests;
    this.failures += failures;
  }

  /** Forgets what is out of the window now. */
  moveTo(now: number): void {
    const bucket = Math.floor(now / this.#bucketMs);
    if (this.requests === 0 || bucket - this.#newest >= this.#size) this.clear();
    else for (let next = this.#newest + 1; next <= bucket; next++) this.#drop(2 * (next % this.#size));
    this.#newest = bucket;
  }

  clear(): void {
    if (this.requests > 0) this.#counts?.fill(0);
    this.requests = 0;
    this.failures = 0;
  }

  #drop(at: number): void {
    const counts = this.#counts as Uint32Array;
    this.requests -= counts[at] as number;
    this.failures -= counts[at + 1] as number;
    counts[at] = 0;
    counts[at + 1] = 0;
  }
}
