/**
 * A cache that keeps a value as long as each generation asks for it. What neither the current generation nor the one before it
 * asked for is dropped.
 */
export class GenerationCache<T> {
  #current = new Map<string, T>();
  #previous = new Map<string, T>();

  get(key: string, make: () => T): T {
    let value = this.#current.get(key);
    if (value === undefined) {
      value = this.#previous.get(key) ?? make();
      this.#current.set(key, value);
    }
    return value;
  }

  /** Starts the next generation. */
  startGeneration(): void {
    this.#previous = this.#current;
    this.#current = new Map();
  }
}
