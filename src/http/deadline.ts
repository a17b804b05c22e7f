// Work that has to end with something else, and after a time.

/**
 * Runs work with a signal that comes when `other` comes, or when the time is over. `AbortSignal.any` cannot be used: in Node 20 a
 * garbage collection takes away an `AbortSignal.timeout` that is a part of one, and the work would wait for ever.
 * @param timeoutMs milliseconds.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  other: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const end = () => ending.abort(other.reason);
  const timer = setTimeout(() => ending.abort(new DOMException('The time is over.', 'TimeoutError')), timeoutMs);
  if (other.aborted) end();
  else other.addEventListener('abort', end, { once: true });
  try {
    return await work(ending.signal);
  } finally {
    clearTimeout(timer);
    other.removeEventListener('abort', end);
  }
}
