// Sign-in links. With one, a user can set a password, once.

import type { Db, PrismaClient } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';
import { newToken } from './secrets.ts';

/** How long a link is valid, in milliseconds. */
const LINK_MAX_AGE_MS = 15 * 60 * 1000;

export interface NewSignInLink {
  token: string;
  expiresAt: Date;
}

/** Creates a link for a user, and deletes earlier ones. Only the result has the token; the database stores its digest. */
export async function createSignInLink(db: Db, keys: Keys, ownerId: string, now: number): Promise<NewSignInLink> {
  const token = newToken();
  const expiresAt = new Date(now + LINK_MAX_AGE_MS);
  await db.signInLink.deleteMany({ where: { ownerId } });
  await db.signInLink.create({ data: { digest: keys.digest(token), ownerId, expiresAt } });
  return { token, expiresAt };
}

/** The user of a link; null when it is unknown, used or expired. */
export async function findLinkOwner(db: Db, keys: Keys, token: string, now: number) {
  const link = await db.signInLink.findFirst({
    where: { digest: { in: keys.digests(token) }, expiresAt: { gt: new Date(now) }, owner: { active: true } },
    select: { digest: true, owner: { select: { id: true, accountId: true, subject: true, role: true } } },
  });
  return link && { digest: link.digest, ...link.owner };
}

/** The active admins of the first account, the oldest first. The dashboard is set up when one of them has a password. */
async function firstAdmins(db: Db) {
  const admin = { kind: 'USER', role: 'ADMIN', active: true } as const;
  const first = await db.owner.findFirst({ where: admin, orderBy: { accountId: 'asc' }, select: { accountId: true } });
  if (!first) return [];
  const where = { ...admin, accountId: first.accountId };
  return db.owner.findMany({
    where,
    orderBy: { id: 'asc' },
    select: { id: true, password: { select: { ownerId: true } } },
  });
}

/** Whether one of the first account's admins has a password. */
export async function isSetUp(db: Db): Promise<boolean> {
  return (await firstAdmins(db)).some(({ password }) => password !== null);
}

/**
 * Creates the sign-in link that a start logs for the operator, for the first admin.
 * @returns its token; null when an admin has a password.
 */
export async function createFirstAdminLink(prisma: PrismaClient, keys: Keys, now: number): Promise<string | null> {
  return prisma.$transaction(async (tx) => {
    const admins = await firstAdmins(tx);
    const [first] = admins;
    if (!first || admins.some(({ password }) => password !== null)) return null;
    return (await createSignInLink(tx, keys, first.id, now)).token;
  });
}
