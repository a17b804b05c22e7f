// All problems of an input in one answer: checks run one after the other, and what each finds is collected.

import { ApiError } from './errors.ts';

/** The most problems that one error tells of. What is wrong beyond them is not looked for. */
export const INPUT_PROBLEMS_MAX = 100;

/** Collects errors that blame members of an input. */
export class ProblemCollector {
  readonly #found: ApiError[] = [];

  /** @throws {ApiError} of all problems when there are as many as one error may tell of. */
  add(error: ApiError): void {
    for (const problem of error.problems) {
      // An error that several checks have come upon is one problem.
      if (this.#found.includes(problem)) continue;
      if (this.#found.length === INPUT_PROBLEMS_MAX) throw ApiError.ofAll(this.#found, true);
      this.#found.push(problem);
    }
    if (error.hasMoreProblems) throw ApiError.ofAll(this.#found, true);
  }

  /**
   * Takes what a check has thrown.
   * @throws what blames no member: nothing can be checked beyond it. Problems that were found before it come first.
   */
  take(thrown: unknown): void {
    if (thrown instanceof ApiError && thrown.problems.length > 0) this.add(thrown);
    else {
      this.throwIfAny();
      throw thrown;
    }
  }

  /** @throws {ApiError} of all that were collected. */
  throwIfAny(): void {
    if (this.#found.length > 0) throw ApiError.ofAll(this.#found);
  }
}

/**
 * Runs a check at once, and gives what it has given, or throws what it has thrown, each time that it is asked: for problems that are
 * told of together with those that a transaction finds.
 */
export function outcomeOf<T>(check: () => T): () => T {
  try {
    const result = check();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

type Check = () => unknown;
type IsAsync<T> = [Extract<T, PromiseLike<unknown>>] extends [never] ? false : true;
type Results<C extends Record<string, Check>> = { [name in keyof C]: Awaited<ReturnType<C[name]>> };

/**
 * Runs all checks of an input in their order, each after the one before it, and gives what they give, by their names.
 * Where one of them is asynchronous, the whole is.
 * @throws {ApiError} with the problems of all of them; the first is what the checks, one after the other, would have thrown.
 * What blames no member (not found, forbidden) ends the checks, and is thrown if nothing was found before it.
 */
export function checkAll<C extends Record<string, Check>>(
  checks: C,
): IsAsync<ReturnType<C[keyof C]>> extends true ? Promise<Results<C>> : Results<C> {
  const names = Object.keys(checks);
  const done = (results: unknown[]) => Object.fromEntries(names.map((name, index) => [name, results[index]]));
  return runAll(names.length, (index) => checks[names[index] as string]?.(), done) as never;
}

/**
 * Checks each item of a list, and gives what the check gives, in the same order. Otherwise as `checkAll`.
 * @throws {ApiError} with the problems of all items.
 */
export function checkEach<T, R>(
  items: readonly T[],
  check: (item: T, index: number) => R,
): IsAsync<R> extends true ? Promise<Awaited<R>[]> : R[] {
  return runAll(
    items.length,
    (index) => check(items[index] as T, index),
    (results) => results,
  ) as never;
}

function runAll<T>(count: number, run: (index: number) => unknown, done: (results: unknown[]) => T): T | Promise<T> {
  const problems = new ProblemCollector();
  const results: unknown[] = [];
  const from = (start: number): T | Promise<T> => {
    for (let index = start; index < count; index++) {
      try {
        const result = run(index);
        if (result instanceof Promise) return afterwards(index, result);
        results[index] = result;
      } catch (error) {
        problems.take(error);
      }
    }
    problems.throwIfAny();
    return done(results);
  };
  const afterwards = async (index: number, result: Promise<unknown>): Promise<T> => {
    try {
      results[index] = await result;
    } catch (error) {
      problems.take(error);
    }
    return from(index + 1);
  };
  return from(0);
}
