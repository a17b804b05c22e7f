/** A set with a limit for all items and one for each group. The oldest items beyond a limit are the excess. */
export class LimitedSet<T> {
  readonly #max: number;
  readonly #maxOfGroup: number;
  /** Items in order of insertion, as in the groups. No group is empty. */
  readonly #all = new Map<T, string>();
  readonly #groups = new Map<string, Set<T>>();
  /** Groups that may be over their limit. */
  readonly #oversizedGroups = new Set<string>();

  constructor(max: number, maxOfGroup: number) {
    this.#max = max;
    this.#maxOfGroup = maxOfGroup;
  }

  get oldest(): T | undefined {
    return this.#all.keys().next().value;
  }

  add(group: string, item: T): void {
    this.#all.set(item, group);
    const items = (this.#groups.get(group) ?? new Set()).add(item);
    this.#groups.set(group, items);
    if (items.size > this.#maxOfGroup) this.#oversizedGroups.add(group);
  }

  remove(item: T): void {
    const group = this.#all.get(item);
    if (group === undefined) return;
    this.#all.delete(item);
    const items = this.#groups.get(group);
    items?.delete(item);
    if (items?.size === 0) this.#groups.delete(group);
  }

  /** Whether `removeExcess` may find any items. */
  get isOverLimit(): boolean {
    return this.#oversizedGroups.size > 0 || this.#all.size > this.#max;
  }

  /** Removes and returns the items beyond the limits. */
  removeExcess(): T[] {
    const removed: T[] = [];
    for (const group of this.#oversizedGroups) {
      const items = this.#groups.get(group) ?? new Set();
      for (const item of items) {
        if (items.size <= this.#maxOfGroup) break;
        this.remove(item);
        removed.push(item);
      }
    }
    this.#oversizedGroups.clear();
    for (const item of this.#all.keys()) {
      if (this.#all.size <= this.#max) break;
      this.remove(item);
      removed.push(item);
    }
    return removed;
  }
}
