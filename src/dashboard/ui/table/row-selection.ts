// Which rows of a list are selected. A checkbox reads it by itself, so that selecting a thousand rows renders only those
// that are on screen, and of them only their checkboxes.

import { computed, signal } from '@preact/signals';

export class RowSelection {
  /** The ids of the rows that are loaded, in the order of the table, which sets it. */
  loaded: readonly string[] = [];
  readonly #ids = signal<ReadonlySet<string>>(new Set());
  readonly #isEverything = signal(false);
  /** From where a range extends. */
  #anchor: string | undefined;

  /** How many rows are selected, of those that are loaded. */
  readonly count = computed(() => this.#ids.value.size);

  /** Whether all that match are selected, loaded or not. */
  get isEverything(): boolean {
    return this.#isEverything.value;
  }

  get ids(): readonly string[] {
    return [...this.#ids.value];
  }

  has(id: string): boolean {
    return this.#isEverything.value || this.#ids.value.has(id);
  }

  /** Selects a row, or leaves it out. */
  toggle(id: string): void {
    const ids = new Set(this.#explicit());
    if (!ids.delete(id)) ids.add(id);
    this.#anchor = id;
    this.#set(ids);
  }

  /** Selects all rows between the one that was toggled last and this one. */
  extendTo(id: string): void {
    const [from, to] = [this.loaded.indexOf(this.#anchor ?? id), this.loaded.indexOf(id)];
    if (from < 0 || to < 0) {
      this.toggle(id);
      return;
    }
    const range = this.loaded.slice(Math.min(from, to), Math.max(from, to) + 1);
    this.#set(new Set([...this.#explicit(), ...range]));
  }

  /** Selects all rows that are loaded; none if they are already. */
  toggleLoaded(): void {
    this.#set(this.loaded.every((id) => this.has(id)) ? new Set() : new Set(this.loaded));
  }

  /** Selects all that match, also what is not loaded. */
  selectEverything(): void {
    this.#ids.value = new Set(this.loaded);
    this.#isEverything.value = true;
  }

  clear(): void {
    this.#anchor = undefined;
    this.#set(new Set());
  }

  /** Forgets rows that are no longer there. */
  keepLoaded(): void {
    const kept = this.#ids.peek();
    if (kept.size === 0) return;
    const loaded = new Set(this.loaded);
    const left = [...kept].filter((id) => loaded.has(id));
    if (left.length < kept.size) this.#ids.value = new Set(left);
  }

  /** The rows that are selected when a single one changes: all that match are then those that are loaded. */
  #explicit(): ReadonlySet<string> {
    return this.#isEverything.peek() ? new Set(this.loaded) : this.#ids.peek();
  }

  #set(ids: ReadonlySet<string>): void {
    this.#isEverything.value = false;
    this.#ids.value = ids;
  }
}
