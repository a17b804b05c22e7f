// Compiling in pieces: a policy may take a second, and everybody else waits for the same loop. What is compiled is kept until
// all of it is; after each piece the work begins anew, and goes on where it has not been.

/** How long a piece takes before it ends in front of the next expression; milliseconds. */
const STEP_MS = 5;

/** Ends a piece. It must get through to `run`. */
class StepEnd extends Error {}

type Outcome = { value: unknown } | { error: unknown };

let current: IncrementalCompilation | undefined;

/** What has been compiled of one thing so far. */
export class IncrementalCompilation {
  readonly #kept = new Map<object, Map<string, Outcome>>();
  readonly #now: () => number;
  #until = 0;
  #isFirst = true;
  #isWithin = false;

  /** @param now a clock that never goes back, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Does what compiles, in one go; what is kept is not compiled again. */
  finish<T>(work: () => T): T {
    return this.#during(work, Number.POSITIVE_INFINITY);
  }

  /** Does a piece of what compiles. @returns undefined when there is more to do: then it is to be called again. */
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

  /** See `compiledOnce`. */
  keep<T>(kind: object, text: string, compile: () => T): T {
    const ofKind = this.#kept.get(kind) ?? new Map<string, Outcome>();
    this.#kept.set(kind, ofKind);
    const outcome = ofKind.get(text) ?? this.#compiled(compile);
    ofKind.set(text, outcome);
    if ('error' in outcome) throw outcome.error;
    return outcome.value as T;
  }

  #compiled(compile: () => unknown): Outcome {
    // One at least is done whole, with what is within it, or there would be no end to it.
    if (!this.#isWithin && !this.#isFirst && this.#now() >= this.#until) throw new StepEnd();
    const isOuter = !this.#isWithin;
    this.#isFirst = false;
    this.#isWithin = true;
    try {
      return { value: compile() };
    } catch (error) {
      return { error };
    } finally {
      this.#isWithin = !isOuter;
    }
  }
}

/**
 * Compiles a text, or has it from the compilation that is under way; between two of them, a piece may end.
 * @param kind what tells apart texts that mean something else: the same object for the same kind.
 */
export function compileOnce<T>(kind: object, text: string, compile: () => T): T {
  return current ? current.keep(kind, text, compile) : compile();
}
