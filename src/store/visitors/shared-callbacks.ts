// Which accounts still use the callback address that all shared before each had its own: those whose visitors had signed in by then,
// as it is registered at their providers.

import type { Db, PrismaClient } from '../database/client.ts';

/** Whose visitors, and where they sign in. */
interface Pair {
  accountId: string;
  issuer: string;
}

/** Whether visitors of an account who sign in at an issuer come back by the shared address. */
export async function usesSharedCallback(prisma: PrismaClient, { accountId, issuer }: Pair): Promise<boolean> {
  return (await prisma.sharedCallback.count({ where: { accountId, issuer } })) > 0;
}

/** The issuers for which an account uses it, in order. */
export async function sharedCallbackIssuers(db: Db, accountId: string): Promise<string[]> {
  const rows = await db.sharedCallback.findMany({ where: { accountId }, orderBy: { issuer: 'asc' } });
  return rows.map(({ issuer }) => issuer);
}

/** Ends that. @returns whether the account did. */
export async function endSharedCallback(db: Db, { accountId, issuer }: Pair): Promise<boolean> {
  return (await db.sharedCallback.deleteMany({ where: { accountId, issuer } })).count > 0;
}
