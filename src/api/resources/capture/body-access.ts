// Who may read the bodies of captured requests: admins, and whom an admin gave the right.

import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';

const known = new WeakMap<Context, Promise<boolean>>();

/** Whether the caller may. It is asked once for an operation; a subscription ends when the right of its reader changes. */
export function mayReadBodies(context: Context): Promise<boolean> {
  const answer = known.get(context) ?? ask(context);
  known.set(context, answer);
  return answer;
}

/** @throws {ApiError} when the caller may not. */
export async function checkMayReadBodies(context: Context): Promise<void> {
  if (!(await mayReadBodies(context))) throw new ApiError('bodiesHidden');
}

async function ask({ caller, db }: Context): Promise<boolean> {
  if (caller.isAdmin) return true;
  const where = { id: caller.ownerId, mayReadBodies: true };
  return (await db.owner.count({ where })) > 0;
}
