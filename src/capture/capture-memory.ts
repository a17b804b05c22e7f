// The memory that all captured requests of a node share. When it is full, the account that has most of it gives way: no
// account gets another below an equal share.

const MIB = 1024 * 1024;

/** Bytes of all of them together, and of the bodies that are being copied. */
export const MEMORY_MAX = 64 * MIB;
/** Bytes of one account's bodies that are being copied: they cannot give way. */
export const COPYING_MAX = 16 * MIB;

/** Who keeps captured requests. */
export interface CaptureHolder {
  readonly accountId: string;
  /** Lets go of one of them, which frees its memory. */
  evict(id: string): void;
}

/** What an account has. */
interface Share<K> {
  /** Bytes, those that are being copied among them. */
  used: number;
  copying: number;
  /** By the ids of the requests, the oldest first. */
  keepers: Map<string, K>;
}

export class CaptureMemory<K extends CaptureHolder> {
  #used = 0;
  readonly #shares = new Map<string, Share<K>>();
  /** By the ids of the requests. */
  readonly #keepers = new Map<string, K>();

  /** Takes memory; the oldest requests of whoever has most go for it. @returns false when so much cannot be had fairly. */
  take(bytes: number, { accountId }: K): boolean {
    const own = this.#shareOf(accountId);
    while (this.#used + bytes > MEMORY_MAX) {
      const [oldest] = this.#givingWayTo(own, bytes).keepers;
      if (!oldest) {
        this.#tidy(accountId);
        return false;
      }
      oldest[1].evict(oldest[0]);
    }
    this.#shares.set(accountId, own); // All that it had may have gone just now.
    this.#add(own, bytes);
    return true;
  }

  /** Takes memory for bodies that are being copied, likewise. */
  takeForRecording(bytes: number, keeper: K): boolean {
    const copying = this.#shares.get(keeper.accountId)?.copying ?? 0;
    if (copying + bytes > COPYING_MAX || !this.take(bytes, keeper)) return false;
    this.#shareOf(keeper.accountId).copying = copying + bytes;
    return true;
  }

  /** So much was copied, and stays taken. */
  recordingEnded(bytes: number, { accountId }: K): void {
    this.#shareOf(accountId).copying -= bytes;
  }

  free(bytes: number, { accountId }: K): void {
    this.#add(this.#shareOf(accountId), -bytes);
    this.#tidy(accountId);
  }

  holderOf(id: string): K | undefined {
    return this.#keepers.get(id);
  }

  added(id: string, keeper: K): void {
    this.#keepers.set(id, keeper);
    this.#shareOf(keeper.accountId).keepers.set(id, keeper);
  }

  removed(id: string, { accountId }: K): void {
    this.#keepers.delete(id);
    this.#shareOf(accountId).keepers.delete(id);
  }

  /** Whoever has most and something to give; who asks, where nobody has more than that would have. */
  #givingWayTo(own: Share<K>, bytes: number): Share<K> {
    let most = own;
    let mostBytes = own.used + bytes;
    for (const share of this.#shares.values()) {
      if (share === own || share.keepers.size === 0 || share.used <= mostBytes) continue;
      most = share;
      mostBytes = share.used;
    }
    return most;
  }

  #shareOf(accountId: string): Share<K> {
    const known = this.#shares.get(accountId);
    if (known) return known;
    const share: Share<K> = { used: 0, copying: 0, keepers: new Map() };
    this.#shares.set(accountId, share);
    return share;
  }

  #add(share: Share<K>, bytes: number): void {
    share.used += bytes;
    this.#used += bytes;
  }

  #tidy(accountId: string): void {
    if (this.#shares.get(accountId)?.used === 0) this.#shares.delete(accountId);
  }
}
