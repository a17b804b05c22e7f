// The IP policies that an IP restriction names, whether of an edge or of a whole account.

import type { Db } from '../../store/database/client.ts';
import { ApiError, type ErrorName } from '../errors/errors.ts';
import { checkEach } from '../errors/problems.ts';

/** The most IP policies of one restriction. */
export const IP_POLICIES_MAX = 10;

interface PolicyChoice {
  accountId: string;
  db: Db;
  /** Where the ids were given. */
  member: string;
  errors: Record<'none' | 'tooMany' | 'unknown', ErrorName>;
}

/** @throws {ApiError} when there are none or too many, or naming those that are unknown or named twice. */
export async function checkPolicyIds(
  ids: readonly string[],
  { accountId, db, member, errors }: PolicyChoice,
): Promise<void> {
  if (ids.length === 0) throw new ApiError(errors.none, { member });
  if (ids.length > IP_POLICIES_MAX) throw new ApiError(errors.tooMany, { member, max: IP_POLICIES_MAX });
  const where = { id: { in: [...ids] }, accountId };
  const known = new Set((await db.ipPolicy.findMany({ where, select: { id: true } })).map(({ id }) => id));
  checkEach(ids, (id, index) => {
    const at = { member: `${member}[${index}]` };
    if (!known.has(id)) throw new ApiError(errors.unknown, at);
    if (ids.indexOf(id) < index) throw new ApiError('ipPolicyRepeated', at);
  });
}
