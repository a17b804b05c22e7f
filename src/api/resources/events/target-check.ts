// What a target of an event destination must be like: the descriptor of its kind decides.

import type { Given, TargetRules } from '../../../events/sinks/descriptor.ts';
import {
  type AnyTarget,
  descriptorOf,
  restNameOf,
  type SinkName,
  sinkNames,
  type Target,
} from '../../../events/sinks/index.ts';
import { TargetError } from '../../../events/sinks/target-error.ts';
import { ApiError } from '../../errors/errors.ts';
import { toApiRow } from '../../errors/event-errors.ts';

/** A target as GraphQL has read it: its shape is right, and every member may be null. */
export type GivenTarget = { readonly [K in SinkName]?: Given<AnyTarget> | null };

/**
 * @returns the target with nothing in it that was not checked. A secret that was not given is null.
 * @throws {ApiError} naming the members that are wrong.
 */
export function checkTarget(input: GivenTarget | null | undefined, rules: TargetRules): Target {
  const given = sinkNames.filter((name) => input?.[name] != null);
  const known = sinkNames.map(restNameOf).join(', ');
  if (given.length > 1)
    throw new ApiError('severalTargets', { member: 'target', known, actual: given.map(restNameOf).join(', ') });
  const [name] = given;
  const value = name && input?.[name];
  if (!value) throw new ApiError('targetMissing', { member: 'target', known });
  try {
    return { [name]: descriptorOf(name).check(value, `target.${name}`, rules) };
  } catch (error) {
    throw targetProblems(error);
  }
}

/** What was thrown by the check of a target, as the API says it: all that is wrong. */
export function targetProblems(error: unknown): unknown {
  if (!(error instanceof TargetError)) return error;
  return ApiError.ofAll([error, ...error.others].map(({ row, parameters }) => new ApiError(toApiRow(row), parameters)));
}
