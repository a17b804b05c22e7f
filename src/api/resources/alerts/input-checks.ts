// Checks that rules, channels and silences share.

import type { Db } from '../../../store/database/client.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';

const NAME_MAX = 100;

/** A name stands in the subject of e-mails: one line. @throws {ApiError} */
export function checkName(name: string): string {
  const trimmed = name.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (trimmed.length >= 1 && trimmed.length <= NAME_MAX && !/[\x00-\x1f\x7f\u2028\u2029]/.test(trimmed)) return trimmed;
  throw new ApiError('alertNameWrong', { member: 'name', max: NAME_MAX });
}

/** @returns undefined when nothing was given. @throws {ApiError} when a number is out of its range. */
export function checkNumber(
  member: string,
  given: number | null | undefined,
  { min, max }: { min: number; max: number },
): number | undefined {
  if (given == null) return undefined;
  if (given < min || given > max) throw new ApiError('alertNumberRange', { member, min, max });
  return given;
}

/** Lets one write at a time add to an account, so that it stays within its limit. @throws {ApiError} when it has as many. */
export async function checkRoom(
  db: Db,
  accountId: string,
  { kind, max, count }: { kind: string; max: number; count: () => Promise<number> },
): Promise<void> {
  await db.$queryRaw`SELECT id FROM account WHERE id = ${accountId} FOR UPDATE`;
  if ((await count()) >= max) throw new ApiError('tooManyAlertObjects', { max, kind });
}

/** Who calls, for people: an e-mail address, or the name of a bot user. */
export async function callerName({ db, caller }: Context): Promise<string> {
  const { ownerId: id } = caller;
  return (await db.owner.findUniqueOrThrow({ where: { id }, select: { subject: true } })).subject;
}
