// Changes of one member that can be done to many objects, and undone.

import { isDeepStrictEqual } from 'node:util';
import { Prisma } from '../../store/generated/prisma/client.ts';
import type { Labels } from '../../tunnel/endpoints/endpoint.ts';
import type { Context } from '../context.ts';
import { ApiError, type ErrorName } from '../errors/errors.ts';
import { nounOf } from '../naming.ts';
import type { BulkOperation, BulkParameters } from './bulk-operations.ts';

/** A member of a kind of object, and the code of the mutation that changes it. */
export interface ChangeableMember<T> {
  kind: string;
  /** The table, in SQL. */
  table: string;
  adminsOnly?: ErrorName;
  /** What an object of the caller's account has now; null when there is no such object. */
  read(context: Context, id: string): Promise<T | null>;
  /** What it is to have. */
  target(before: T, parameters: BulkParameters): T;
  /** Does what the mutation of one object does. @throws {ApiError} when it is refused. */
  write(context: Context, id: string, value: T): Promise<unknown>;
}

/** The operation that changes this member of many objects. To be run in a transaction: it locks the object. */
export function changeOperation<T>({
  kind,
  table,
  adminsOnly,
  read,
  target,
  write,
}: ChangeableMember<T>): BulkOperation {
  const readLocked = async (context: Context, id: string) => {
    const { db, accountId } = context;
    await db.$queryRaw`
      SELECT id FROM ${Prisma.raw(table)} WHERE id = ${id} AND account_id = ${accountId} FOR NO KEY UPDATE`;
    return read(context, id);
  };
  return {
    adminsOnly,
    async apply(context, id, parameters) {
      const before = await readLocked(context, id);
      if (before === null) throw new ApiError('notFound', { kind: nounOf(kind) });
      const after = target(before, parameters);
      if (isDeepStrictEqual(before, after)) return null;
      await write(context, id, after);
      return before;
    },
    async undo(context, id, before, parameters) {
      const now = await readLocked(context, id);
      if (now === null || !isDeepStrictEqual(now, target(before as T, parameters))) return false;
      await write(context, id, before as T);
      return true;
    },
  };
}

/** The labels that an object has after some are set and some are taken away. */
export function mergeLabels(before: Labels, { setLabels, removeLabels }: BulkParameters): Labels {
  return Object.fromEntries(Object.entries({ ...before, ...setLabels }).filter(([key]) => !removeLabels.includes(key)));
}
