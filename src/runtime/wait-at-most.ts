// Waits for work that may take too long.

/**
 * Waits until the promise has settled, but not for longer than so many milliseconds.
 * @returns what it resolves with until then; otherwise undefined.
 * @throws what it rejects with until then.
 */
export async function waitAtMost<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
