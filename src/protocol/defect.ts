// Exceptions that nobody expected.

/**
 * Hands an exception to the process's last guard, which logs and counts it, after whoever caught it has ended the one
 * connection that it is about. Where there is no guard (tools, tests), the process ends with it.
 */
export function reportDefect(error: unknown): void {
  process.nextTick(() => {
    throw error;
  });
}

/** The listener, such that an exception ends with `end` what it is about, and nothing else. */
export function guarded<Args extends unknown[]>(
  end: () => void,
  listener: (...args: Args) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      listener(...args);
    } catch (error) {
      reportDefect(error);
      end();
    }
  };
}
