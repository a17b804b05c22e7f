// Things that there may be only so many of, in all and of one group: the oldest ones are too many.

export class LimitedSet<T> {
  readonly #max: number;
  readonly #maxOfGroup: number;
  /** Oldest first, as in the groups, none of which is empty. */
  readonly #all = new Map<T, string>();
  readonly #groups = new Map<string, Set<T>>();
  /** Groups that have too many. */
  readonly #fullGroups = new Set<string>();

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
    if (items.size > this.#maxOfGroup) this.#fullGroups.add(group);
  }

  remove(item: T): void {
    const group = this.#all.get(item);
    if (group === undefined) return;
    this.#all.delete(item);
    const items = this.#groups.get(group);
    items?.delete(item);
    if (items?.size === 0) this.#groups.delete(group);
  }

  /** Whether `takeExcess` would find any. */
  get isOverLimit(): boolean {
    return this.#fullGroups.size > 0 || this.#all.size > this.#max;
  }

  /** Those beyond the limits, taken out. */
  takeExcess(): T[] {
    const taken: T[] = [];
    for (const group of this.#fullGroups) {
      const items = this.#groups.get(group) ?? new Set();
      for (const item of items) {
        if (items.size <= this.#maxOfGroup) break;
        this.remove(item);
        taken.push(item);
      }
    }
    this.#fullGroups.clear();
    for (const item of this.#all.keys()) {
      if (this.#all.size <= this.#max) break;
      this.remove(item);
      taken.push(item);
    }
    return taken;
  }
}
