/** Bytes that several users share. Each takes before it allocates, and gives back what it has freed. */
export class ByteBudget {
  readonly max: number;
  readonly #parent: ByteBudget | undefined;
  #taken = 0;

  /** @param parent of which all that is taken here is a part. */
  constructor(max: number, parent?: ByteBudget) {
    this.max = max;
    this.#parent = parent;
  }

  /** @returns false, and takes nothing, where there is not so much left. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.max) return false;
    if (this.#parent && !this.#parent.take(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
    this.#parent?.give(bytes);
  }
}
