/**
 * A limit on the bytes that several users allocate together. A user takes bytes before it allocates them and gives them
 * back when it frees them.
 */
export class ByteBudget {
  readonly max: number;
  readonly #parent: ByteBudget | undefined;
  #taken = 0;

  /** @param parent the larger budget that everything taken here counts against, too. */
  constructor(max: number, parent?: ByteBudget) {
    this.max = max;
    this.#parent = parent;
  }

  /** @returns false, and takes nothing, when fewer bytes are left in this budget or in its parent. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.max) return false;
    if (this.#parent && !this.#parent.take(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  /** Gives back bytes that `take` has taken. */
  give(bytes: number): void {
    this.#taken -= bytes;
    this.#parent?.give(bytes);
  }
}
