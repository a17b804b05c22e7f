// Incremental compilation: a policy may take a second, which would block the event loop. The compilation runs in steps. Each
// step restarts it, skips what earlier steps have compiled, and continues from there.

/** The time after which a step ends before the next expression; milliseconds. */
const STEP_MS = 5;

/** Ends a step. Code between `step` and `compileOnce` must not catch it. */
class StepEnd extends Error {}

type Outcome = { value: unknown } | { error: unknown };

let current: IncrementalCompilation | undefined;

/** The state of one compilation, with the results of its steps. */
export class IncrementalCompilation {
  readonly #kept = new Map<object, Map<string, Outcome>>();
  readonly #now: () => number;
  #until = 0;
  #isFirst = true;
  #isNested = false;

  /** @param now a monotonic clock, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs the remaining compilation in one step. */
  finish<T>(work: () => T): T {
    return this.#during(work, Number.POSITIVE_INFINITY);
  }

  /** Runs one step. @returns the result; undefined when it must be called again. */
  step<T>(work: () => T): { done: T } | undefined {
    try {
      return { done: this.#during(work, this.#now() + STEP_MS) };
    } catch (error) {
      if (error instanceof StepEnd) return undefined;
      throw error;
    }
  }

  #during<T>(work: () => T, until: number): T {
    const outer = current;
    current = this;
    this.#until = until;
    this.#isFirst = true;
    try {
      return work();
    } finally {
      current = outer;
    }
  }

  /** Implements `compileOnce`. */
  keep<T>(kind: object, text: string, compile: () => T): T {
    const ofKind = this.#kept.get(kind) ?? new Map<string, Outcome>();
    this.#kept.set(kind, ofKind);
    const outcome = ofKind.get(text) ?? this.#compiled(compile);
    ofKind.set(text, outcome);
    if ('error' in outcome) throw outcome.error;
    return outcome.value as T;
  }

  #compiled(compile: () => unknown): Outcome {
    // Each step completes at least one expression with its parts; otherwise the compilation would never end.
    if (!this.#isNested && !this.#isFirst && this.#now() >= this.#until) throw new StepEnd();
    const isOuter = !this.#isNested;
    this.#isFirst = false;
    this.#isNested = true;
    try {
      return { value: compile() };
    } catch (error) {
      return { error };
    } finally {
      this.#isNested = !isOuter;
    }
  }
}

/**
 * Compiles a text, or returns the result of an earlier step of the current compilation. A step may end between two calls.
 * @param kind distinguishes equal texts with different meanings. It is compared by identity.
 */
export function compileOnce<T>(kind: object, text: string, compile: () => T): T {
  return current ? current.keep(kind, text, compile) : compile();
}
