// What asks users with a second factor for a code, wherever a password or a link alone would do for others.

import { hasSecondFactor, type SecondFactorKind, spendCode } from '../../store/sign-in/second-factors.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import type { SignInWay } from '../exchange.ts';
import { recordFailedSignIn, type User } from './sign-in-steps.ts';

const member = 'code';

/** What a user has proved already, and the code that came with it. */
interface CodeAttempt {
  code: string | null | undefined;
  after: SignInWay;
  /** What it is for; the audit trail tells it. */
  at: string;
}

/** @returns whether the user has a second factor. @throws {ApiError} when that is so and no code came. */
export async function checkCodeGiven(
  { db }: Context,
  userId: string,
  code: string | null | undefined,
): Promise<boolean> {
  if (!(await hasSecondFactor(db, userId))) return false;
  if (!code?.trim()) throw new ApiError('secondFactorNeeded', { member });
  return true;
}

/**
 * Has a user with a second factor give a code, and uses that up.
 * @returns what the code is of; undefined: this user has no second factor.
 * @throws {ApiError} when there is none, or a wrong one.
 */
export async function passSecondFactor(
  context: Context,
  user: Omit<User, 'role'>,
  { code, after, at }: CodeAttempt,
): Promise<SecondFactorKind | undefined> {
  const { app, client } = context;
  if (!(await checkCodeGiven(context, user.id, code))) return undefined;
  const given = code ?? '';
  const spend = () => context.withoutAudit((db) => spendCode(db, app.keys, user.id, { code: given, now: app.now() }));
  const kind = await app.signIn.attempts.runCode({ userId: user.id, after }, client.ip, spend);
  if (kind) return kind;
  client.recordSignIn({ outcome: 'failed', by: after, userId: user.id, reason: `wrong code: ${at}` });
  recordFailedSignIn(context, user, { by: 'code', at });
  throw new ApiError('wrongCode', { member });
}

/**
 * Refuses a user who has turned a second factor on since `passSecondFactor` found none.
 * @throws {ApiError}
 */
export async function checkStillPassed(
  { db }: Context,
  userId: string,
  passed: SecondFactorKind | undefined,
): Promise<void> {
  if (!passed && (await hasSecondFactor(db, userId))) throw new ApiError('secondFactorNeeded', { member });
}
