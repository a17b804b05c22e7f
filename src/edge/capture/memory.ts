// The memory that all captured requests of a node share.

/** Bytes of all of them together, and of the bodies that are being copied. */
export const MEMORY_MAX = 64 * 1024 * 1024;

/** Who keeps captured requests. */
export interface Keeper {
  /** Lets go of one of them, which frees its memory. */
  forget(id: string): void;
}

export class CaptureMemory<K extends Keeper> {
  used = 0;
  /** By the ids of the requests, the oldest first. */
  readonly #keepers = new Map<string, K>();

  /** Takes memory; the oldest requests of all go for it. @returns false when so much cannot be had whatever goes. */
  take(bytes: number): boolean {
    while (this.used + bytes > MEMORY_MAX) {
      const [oldest] = this.#keepers;
      if (!oldest) return false;
      oldest[1].forget(oldest[0]);
    }
    this.used += bytes;
    return true;
  }

  free(bytes: number): void {
    this.used -= bytes;
  }

  keeperOf(id: string): K | undefined {
    return this.#keepers.get(id);
  }

  kept(id: string, keeper: K): void {
    this.#keepers.set(id, keeper);
  }

  gone(id: string): void {
    this.#keepers.delete(id);
  }
}
