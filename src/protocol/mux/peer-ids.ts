// Which stream ids a peer has used.

/** How many ids behind the highest one are remembered. A multiple of 8. */
const REMEMBERED = 4096;

/**
 * The ids of the streams that a peer has opened. They come in any order: a program takes ids one after the other, and the threads
 * that took them send their first frames when they get to it.
 *
 * A session keeps 512 bytes, however many streams there were: a bit for each of the last 4096 ids of the peer's parity, counted
 * from the highest. Ids before these count as used.
 */
export class PeerIds {
  /** The bit of the ids `2n` and `2n + 1` is that of `n` modulo `REMEMBERED`. */
  readonly #used = new Uint8Array(REMEMBERED / 8);
  readonly #parity: 0 | 1;
  /** The highest id that was used; before the first one, the number of this parity before it. */
  #highest: number;

  /** @param parity 1 for a peer that opens streams with odd ids, 0 for even ones. */
  constructor(parity: 0 | 1) {
    this.#parity = parity;
    this.#highest = parity === 1 ? -1 : 0;
  }

  /** The highest id that was used; 0 when none was. */
  get highest(): number {
    return Math.max(0, this.#highest);
  }

  /** Whether the id was used, or is so far behind the highest one that this is not remembered. */
  has(id: number): boolean {
    if ((id & 1) !== this.#parity || id > this.#highest) return false;
    const n = id >>> 1;
    if (n <= (this.#highest >> 1) - REMEMBERED) return true;
    return ((this.#used[byteOf(n)] as number) & bitOf(n)) !== 0;
  }

  /** Marks an id as used. @returns false when it is not the peer's to use, was used, or is too far behind. */
  use(id: number): boolean {
    if (id === 0 || (id & 1) !== this.#parity || this.has(id)) return false;
    const n = id >>> 1;
    if (id > this.#highest) {
      this.#forget((this.#highest >> 1) + 1, n);
      this.#highest = id;
    }
    this.#used[byteOf(n)] = (this.#used[byteOf(n)] as number) | bitOf(n);
    return true;
  }

  /** Clears the bits from `first` to `last`: they were those of earlier ids. */
  #forget(first: number, last: number): void {
    if (last - first >= REMEMBERED) return void this.#used.fill(0);
    for (let n = first; n <= last; n++) this.#used[byteOf(n)] = (this.#used[byteOf(n)] as number) & ~bitOf(n);
  }
}

const byteOf = (n: number) => (n % REMEMBERED) >> 3;
const bitOf = (n: number) => 1 << (n & 7);
