// What weighted and failover backends have in common: other backends of the account that they send traffic to.

import type { Db } from '../../../store/database/client.ts';
import { findCircularMember, findLeadingBackends } from '../../../store/edges/backend-graph.ts';
import { ApiError, type ErrorName } from '../../errors/errors.ts';
import { checkEach } from '../../errors/problems.ts';

/** The most members of one backend. */
export const BACKENDS_MAX = 16;
/** The most backends that one leads to over its members and theirs, itself among them: a visit may have to look at each. */
export const NESTED_BACKENDS_MAX = 32;
/** The most bytes of all fixed responses that a backend leads to: each route that uses it has them in memory. */
export const NESTED_RESPONSES_MAX = 131_072;

const MEMBER = 'backends';

/** What the row of a backend gives of its members, in the order in which they were named. */
export const backendMembersSelect = {
  members: { select: { memberId: true, weight: true }, orderBy: { position: 'asc' } },
} as const;

/** @throws {ApiError} when there are none or too many, or the account has no such backends. */
export async function checkMembers(
  db: Db,
  accountId: string,
  ids: readonly string[],
  { tooMany, at }: { tooMany: ErrorName; at(index: number): string },
): Promise<void> {
  if (ids.length === 0) throw new ApiError('backendsMissing', { member: MEMBER });
  if (ids.length > BACKENDS_MAX) throw new ApiError(tooMany, { member: MEMBER, max: BACKENDS_MAX });
  const rows = await db.backend.findMany({ where: { id: { in: [...ids] }, accountId }, select: { id: true } });
  const known = new Set(rows.map(({ id }) => id));
  checkEach(ids, (id, index) => {
    const member = at(index);
    if (!known.has(id)) throw new ApiError('unknownMemberBackend', { member, name: id.slice(0, 64) });
    if (ids.indexOf(id) < index) throw new ApiError('backendRepeated', { member });
  });
}

/**
 * Checks what was written of a backend together with all that leads to it. It must be called in the same transaction, which has
 * the lock of the account's backends.
 * @param member of the input that is to blame.
 * @throws {ApiError} when it leads to itself, or one leads to more than it may.
 */
export async function checkBackendGraph(db: Db, id: string, member = MEMBER): Promise<void> {
  const circular = await findCircularMember(db, id);
  if (circular !== undefined) throw new ApiError('backendCircle', { member, name: circular });
  for (const { id: name, size, responseBytes, hasResponse, isOfConnections } of await findLeadingBackends(db, id)) {
    if (size > NESTED_BACKENDS_MAX)
      throw new ApiError('tooManyNestedBackends', { member, name, max: NESTED_BACKENDS_MAX, actual: size });
    if (responseBytes > NESTED_RESPONSES_MAX)
      throw new ApiError('nestedResponsesTooLarge', {
        ...{ member, name, max: NESTED_RESPONSES_MAX },
        actual: responseBytes,
      });
    if (hasResponse && isOfConnections) throw new ApiError('responseOfConnections', { member, name });
  }
}

/** The column `labels` of what is no tunnel group: no tunnel can have such a label. */
export const NO_LABELS = { '': '' };
