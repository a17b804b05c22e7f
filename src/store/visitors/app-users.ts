// Visitors who have signed in at endpoints of an account.

import type { Announce } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import { newId } from '../ids.ts';

/** The kind of visitors in the change feed, and the prefix of their ids. */
export const APP_USER_KIND = 'appUser';
export const APP_USER_PREFIX = 'appu';

/** Who a visitor is, as the provider says. */
export interface AppIdentity {
  issuer: string;
  subject: string;
  name: string;
  /** '' unless verified. */
  email: string;
}

/** Notes that a user has signed in; the first time makes the user. @returns the id. */
export async function recordSignIn(
  tx: Db,
  announce: Announce,
  accountId: string,
  { issuer, subject, name, email }: AppIdentity,
  at: Date,
): Promise<string> {
  const seen = { name, email, lastLoginAt: at, lastActiveAt: at };
  const { id, createdAt } = await tx.appUser.upsert({
    where: { accountId_issuer_subject: { accountId, issuer, subject } },
    create: { id: newId(APP_USER_PREFIX), accountId, issuer, subject, createdAt: at, ...seen },
    update: seen,
    select: { id: true, createdAt: true },
  });
  announce({
    kind: APP_USER_KIND,
    action: createdAt.getTime() === at.getTime() ? 'CREATED' : 'UPDATED',
    id,
    accountId,
  });
  return id;
}

/** Stores what the provider says of a user now. */
export async function updateAppUser(prisma: PrismaClient, id: string, seen: Pick<AppIdentity, 'name' | 'email'>) {
  await prisma.appUser.updateMany({ where: { id, NOT: seen }, data: seen });
}
