// Loads what the rows of a list ask for one by one together, so that a list costs one query however long it is.

import type { Context } from '../context.ts';

interface Batch<Value> {
  keys: Set<string>;
  loaded: Promise<ReadonlyMap<string, Value>>;
}

/**
 * Makes a look-up whose calls of one turn of the event loop share one load.
 * @param load gives what there is, by key.
 * @returns the look-up. Calls that differ in `how` are loaded apart. It gives undefined where nothing was loaded.
 */
export function batchLoad<Value, How extends object>(
  load: (context: Context, keys: readonly string[], how: How) => Promise<ReadonlyMap<string, Value>>,
): (context: Context, key: string, how: How) => Promise<Value | undefined> {
  const pending = new WeakMap<Context, Map<string, Batch<Value>>>();
  const texts = new WeakMap<How, string>();
  return async (context, key, how) => {
    const batches = pending.get(context) ?? new Map<string, Batch<Value>>();
    pending.set(context, batches);
    const kind = texts.get(how) ?? JSON.stringify(how);
    texts.set(how, kind);
    const known = batches.get(kind);
    if (known) {
      known.keys.add(key);
      return (await known.loaded).get(key);
    }
    const keys = new Set([key]);
    const loaded = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      batches.delete(kind);
      return load(context, [...keys], how);
    });
    batches.set(kind, { keys, loaded });
    return (await loaded).get(key);
  };
}
