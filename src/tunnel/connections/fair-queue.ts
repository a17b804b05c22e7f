/** A queue that is first in, first out within a group, and round robin over the groups, so that a large group starves none. */
export class FairQueue<T> {
  /** The groups in the order in which they are served. No group is empty. */
  readonly #groups = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  add(group: string, item: T): void {
    const items = this.#groups.get(group) ?? new Set();
    if (items.has(item)) return;
    this.#groups.set(group, items.add(item));
    this.#size++;
  }

  /** @returns whether the item was in the queue. */
  remove(group: string, item: T): boolean {
    const items = this.#groups.get(group);
    if (!items?.delete(item)) return false;
    this.#size--;
    if (items.size === 0) this.#groups.delete(group);
    return true;
  }

  /** Removes and returns the next item of the groups that are eligible. */
  next(isEligible: (group: string) => boolean = () => true): T | undefined {
    for (const [group, items] of this.#groups) {
      if (!isEligible(group)) continue;
      const [item] = items;
      this.remove(group, item as T);
      // The group moves behind all others.
      if (this.#groups.delete(group)) this.#groups.set(group, items);
      return item;
    }
    return undefined;
  }
}
