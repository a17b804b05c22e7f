// A limit on the tasks that run at the same time.

/** Runs tasks, at most so many at the same time. The others wait in a first-in-first-out queue. */
export type ConcurrencyLimit = <T>(task: () => Promise<T>) => Promise<T>;

/** The queue is not bounded here; the caller limits how many tasks it hands in. */
export function limitConcurrency(max: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running < max) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
