// Modules that remember their visitors, kept while others of the same route are changed.

export class ModuleCache {
  readonly #before: ReadonlyMap<string, { settings: string; module: unknown }>;
  readonly #made = new Map<string, { settings: string; module: unknown }>();

  /** @param before those of the route as it was. */
  constructor(before?: ModuleCache) {
    this.#before = before ? before.#made : new Map();
  }

  /** The module as it was, where its settings are the same; else a new one. @param make may throw. */
  keep<T>(name: string, settings: unknown, make: () => T): T {
    const text = JSON.stringify(settings);
    const known = this.#before.get(name);
    const made = known?.settings === text ? known : { settings: text, module: make() };
    this.#made.set(name, made);
    return made.module as T; // What is kept under a name is made by one caller only.
  }
}
