// How much of what was captured one answer gives: a short document can ask for the same bytes many times over.

import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';

/** Bytes of headers, paths and bodies in one answer, about. */
const GIVEN_MAX = 32 * 1024 * 1024;
/** Above this texts of bodies are null, which leaves the rest to what may not be null. */
const GIVEN_WITH_TEXTS_MAX = 24 * 1024 * 1024;

const given = new WeakMap<Context, number>();

/** Counts what is about to be given. @throws {ApiError} when it is too much. */
export function chargeBytes(context: Context, bytes: number): void {
  if (!count(context, bytes, GIVEN_MAX)) throw new ApiError('tooMuchCaptured', { max: GIVEN_MAX });
}

/** Gives a text that passed. @throws {ApiError} likewise. */
export function chargeText(context: Context, text: string): string {
  chargeBytes(context, text.length);
  return text;
}

/** Counts the text of a body, if it may be given. */
export function mayIncludeText(context: Context, bytes: number): boolean {
  return count(context, bytes, GIVEN_WITH_TEXTS_MAX);
}

/** Begins a further answer of the same operation: each event of a subscription is one. */
export function resetResponseBudget(context: Context): void {
  given.delete(context);
}

function count(context: Context, bytes: number, max: number): boolean {
  const sum = (given.get(context) ?? 0) + bytes;
  if (sum > max) return false;
  given.set(context, sum);
  return true;
}
