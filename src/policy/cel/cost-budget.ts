// The cost limit of evaluations. An evaluation cannot be interrupted, and visitors choose its input. So functions that
// process lists and texts report their cost here, and fail when the budget is exceeded.

import { CelFailure } from './errors.ts';

/** The most elements of a list, and the most UTF-16 code units of a text, that an expression creates. */
export const ELEMENTS_MAX = 100_000;
export const TEXT_LENGTH_MAX = 1024 * 1024;

/**
 * The cost budget of all expressions for one request in one phase. A unit is about one operation, so that they take at most
 * about 0.1 s of CPU time, whatever the expressions and their input are.
 */
export const EVALUATION_COST_MAX = 300_000;

/** The characters that native code reads in the time of one operation. */
const CHARACTERS_PER_UNIT = 64;

let left = EVALUATION_COST_MAX;
let about: object | undefined;

/** Starts the budget of `bindings`, which stand for one request in one phase. */
export function startBudget(bindings: object): void {
  if (bindings === about) return;
  about = bindings;
  left = EVALUATION_COST_MAX;
}

/**
 * Whether the budget was exceeded. CEL may have continued with another operand of `||`, whose result must be ignored
 * then.
 */
export function isOverBudget(): boolean {
  return left < 0;
}

/** Spends units of the budget. @throws {Error} when it is exceeded. */
export function spend(units: number): void {
  left -= units;
  if (left < 0) throw new CelFailure(`is too much to do: more than ${EVALUATION_COST_MAX} steps for one request`);
}

/** Spends the cost of reading so many characters once. */
export function spendText(length: number): void {
  spend(1 + length / CHARACTERS_PER_UNIT);
}

/** Spends the cost of a text of this length. @throws {Error} when it is too long. */
export function growText(length: number): void {
  if (length > TEXT_LENGTH_MAX) throw new CelFailure(`makes a text of more than ${TEXT_LENGTH_MAX} characters`);
  spendText(length);
}

/** Spends the cost of a list of this length. @throws {Error} when it is too long. */
export function growList(length: number): void {
  if (length > ELEMENTS_MAX) throw new CelFailure(`makes a list of more than ${ELEMENTS_MAX} elements`);
  spend(1 + length / 8);
}
