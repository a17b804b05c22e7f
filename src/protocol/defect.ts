// Defects: exceptions that no code expects.

/**
 * Throws an exception outside of the current call stack, so that the process's handler of uncaught exceptions logs and
 * counts it. The code that caught it has ended the one connection that it affects. In a process without such a handler
 * (tools, tests) the exception ends the process.
 */
export function reportDefect(error: unknown): void {
  process.nextTick(() => {
    throw error;
  });
}

/** Wraps a listener: an exception in it is reported as a defect, and `end` ends the one object that it affects. */
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
