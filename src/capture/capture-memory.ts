// The memory that all captured requests of a node share. When it is full, requests of the account with the largest share are
// evicted, so that no account pushes another below an equal share.

const MIB = 1024 * 1024;

/** The most bytes of all captured requests, including the bodies that are being recorded. */
export const MEMORY_MAX = 64 * MIB;
/** The most bytes of one account's bodies that are being recorded; these cannot be evicted. */
export const RECORDING_MAX = 16 * MIB;

/** An object that stores captured requests. */
export interface CaptureHolder {
  readonly accountId: string;
  /** Removes one of its requests, which frees memory. */
  evict(id: string): void;
}

/** The memory of one account. */
interface Share<K> {
  /** All bytes, including those that are being recorded. */
  used: number;
  recording: number;
  /** The holders of its requests by request id, the oldest first. */
  holders: Map<string, K>;
}

/** The memory of all accounts. */
export class CaptureMemory<K extends CaptureHolder> {
  #used = 0;
  readonly #shares = new Map<string, Share<K>>();
  /** The holders of all requests by request id. */
  readonly #holders = new Map<string, K>();

  /**
   * Takes memory. It evicts the oldest requests of the largest share.
   * @returns false when even that does not free enough.
   */
  take(bytes: number, { accountId }: K): boolean {
    const own = this.#shareOf(accountId);
    while (this.#used + bytes > MEMORY_MAX) {
      const [oldest] = this.#shareToEvict(own, bytes).holders;
      if (!oldest) {
        this.#deleteIfEmpty(accountId);
        return false;
      }
      oldest[1].evict(oldest[0]);
    }
    this.#shares.set(accountId, own); // The loop may have evicted everything of this account, and deleted its share.
    this.#add(own, bytes);
    return true;
  }

  /** Takes memory for bodies that are being recorded, in the same way. */
  takeForRecording(bytes: number, holder: K): boolean {
    const recording = this.#shares.get(holder.accountId)?.recording ?? 0;
    if (recording + bytes > RECORDING_MAX || !this.take(bytes, holder)) return false;
    this.#shareOf(holder.accountId).recording = recording + bytes;
    return true;
  }

  /** Ends the recording of bytes, which stay taken. */
  recordingEnded(bytes: number, { accountId }: K): void {
    this.#shareOf(accountId).recording -= bytes;
  }

  /** Gives back memory. */
  free(bytes: number, { accountId }: K): void {
    this.#add(this.#shareOf(accountId), -bytes);
    this.#deleteIfEmpty(accountId);
  }

  /** The holder of a request; undefined when it is not stored. */
  holderOf(id: string): K | undefined {
    return this.#holders.get(id);
  }

  /** Notes that a holder has stored a request. */
  added(id: string, holder: K): void {
    this.#holders.set(id, holder);
    this.#shareOf(holder.accountId).holders.set(id, holder);
  }

  /** Notes that a holder has removed a request. */
  removed(id: string, { accountId }: K): void {
    this.#holders.delete(id);
    this.#shareOf(accountId).holders.delete(id);
  }

  /** The largest share with a request to evict; the own share, when no other is larger than that would become. */
  #shareToEvict(own: Share<K>, bytes: number): Share<K> {
    let largest = own;
    let largestBytes = own.used + bytes;
    for (const share of this.#shares.values()) {
      if (share === own || share.holders.size === 0 || share.used <= largestBytes) continue;
      largest = share;
      largestBytes = share.used;
    }
    return largest;
  }

  #shareOf(accountId: string): Share<K> {
    const known = this.#shares.get(accountId);
    if (known) return known;
    const share: Share<K> = { used: 0, recording: 0, holders: new Map() };
    this.#shares.set(accountId, share);
    return share;
  }

  #add(share: Share<K>, bytes: number): void {
    share.used += bytes;
    this.#used += bytes;
  }

  #deleteIfEmpty(accountId: string): void {
    if (this.#shares.get(accountId)?.used === 0) this.#shares.delete(accountId);
  }
}
