/** Things by their names, made once, and kept for as long as they are asked for. */
export class GenerationCache<T> {
  #now = new Map<string, T>();
  #before = new Map<string, T>();

  get(key: string, make: () => T): T {
    let value = this.#now.get(key);
    if (value === undefined) {
      value = this.#before.get(key) ?? make();
      this.#now.set(key, value);
    }
    return value;
  }

  /** Begins another turn. What nobody asked for in the last one is forgotten. */
  turn(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }
}
