// How much an evaluation may do. Nothing can interrupt it, and a visitor chooses what it works on: so what walks lists and
// texts says so here, and is stopped when it is too much.

import { CelFailure } from './errors.ts';

/** Elements that a list, and UTF-16 units that a text may have that an expression makes. */
export const ELEMENTS_MAX = 100_000;
export const TEXT_LENGTH_MAX = 1024 * 1024;

/**
 * Units that the expressions about one request in one phase may use together: a unit is about one operation, so that they
 * take at most about a tenth of a second of CPU, whatever they say and whatever they are about.
 */
export const EVALUATION_COST_MAX = 300_000;

/** Characters that native code reads in the time of one operation. */
const CHARACTERS = 64;

let left = EVALUATION_COST_MAX;
let about: object | undefined;

/** From here on, what is done is done for `bindings`, which is one request in one phase. */
export function startBudget(bindings: object): void {
  if (bindings === about) return;
  about = bindings;
  left = EVALUATION_COST_MAX;
}

/** Whether there was too much to do. CEL may have gone on with another operand of `||`: its result does not count. */
export function isOverBudget(): boolean {
  return left < 0;
}

/** Takes units from what is left. Throws when there are not so many. */
export function spend(units: number): void {
  left -= units;
  if (left < 0) throw new CelFailure(`is too much to do: more than ${EVALUATION_COST_MAX} steps for one request`);
}

/** Takes the units for reading so many characters once. */
export function spendText(length: number): void {
  spend(1 + length / CHARACTERS);
}

/** Throws unless a text may get so long; takes the units for it. */
export function growText(length: number): void {
  if (length > TEXT_LENGTH_MAX) throw new CelFailure(`makes a text of more than ${TEXT_LENGTH_MAX} characters`);
  spendText(length);
}

/** Throws unless a list may get so long; takes the units for it. */
export function growList(length: number): void {
  if (length > ELEMENTS_MAX) throw new CelFailure(`makes a list of more than ${ELEMENTS_MAX} elements`);
  spend(1 + length / 8);
}
