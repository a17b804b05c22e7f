// Who waits for a turn: first come, first served within a group, and the groups one after the other, so that none of them
// keeps the others from getting on by being many.

export class FairQueue<T> {
  /** In the order in which the groups are served; none is empty. */
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

  /** @returns whether it was there. */
  remove(group: string, item: T): boolean {
    const items = this.#groups.get(group);
    if (!items?.delete(item)) return false;
    this.#size--;
    if (items.size === 0) this.#groups.delete(group);
    return true;
  }

  /** Takes the one whose turn it is, of the groups that may have one now. */
  next(mayHave: (group: string) => boolean = () => true): T | undefined {
    for (const [group, items] of this.#groups) {
      if (!mayHave(group)) continue;
      const [item] = items;
      this.remove(group, item as T);
      // The others of its group come after all other groups.
      if (this.#groups.delete(group)) this.#groups.set(group, items);
      return item;
    }
    return undefined;
  }
}
