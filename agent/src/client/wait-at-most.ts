// Waits with a timeout.

/** Resolves when the promise does, or after so many milliseconds. @throws the rejection of the promise before that. */
export async function waitAtMost(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
