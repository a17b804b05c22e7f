// So many at a time.

/** Runs what it is given, at most so many at once; the others wait their turn. */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** Who waits is not counted here: whoever hands in work bounds that. */
export function limitConcurrency(max: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < max) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
