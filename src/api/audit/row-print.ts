// What a row is, in a few characters: whether it changed can be seen also where nothing of it is shown.

import { Prisma } from '../../store/generated/prisma/client.ts';
import { resourceOf } from '../collections/nodes.ts';
import type { Context } from '../context.ts';

/**
 * Locks the row of an object until the end of the transaction, so that what it is now is what the transaction changes.
 * @returns its print; undefined when there is none.
 */
export function lockRow(context: Context, id: string): Promise<string | undefined> {
  return printOf(context, id, Prisma.sql`FOR NO KEY UPDATE`);
}

/** The print of a row that this transaction has locked. */
export function rowPrint(context: Context, id: string): Promise<string | undefined> {
  return printOf(context, id, Prisma.empty);
}

async function printOf({ db, accountId }: Context, id: string, lock: Prisma.Sql): Promise<string | undefined> {
  const table = resourceOf(id)?.search?.table;
  if (table === undefined) return undefined;
  const [row] = await db.$queryRaw<{ print: string }[]>`
    SELECT md5(t::text) AS print FROM ${Prisma.raw(table)} t WHERE id = ${id} AND account_id = ${accountId} ${lock}`;
  return row?.print;
}
