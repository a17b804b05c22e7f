// Sign-in links: by one, a user sets a password, once.

import type { Db, PrismaClient } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';
import { newToken } from './secrets.ts';

/** How long a link works; milliseconds. */
const LINK_MAX_AGE_MS = 15 * 60 * 1000;

export interface NewSignInLink {
  token: string;
  expiresAt: Date;
}

/** Makes a link for a user; those made before are void. The token is in the answer and nowhere else. */
export async function createSignInLink(db: Db, keys: Keys, ownerId: string, now: number): Promise<NewSignInLink> {
  const token = newToken();
  const expiresAt = new Date(now + LINK_MAX_AGE_MS);
  await db.signInLink.deleteMany({ where: { ownerId } });
  await db.signInLink.create({ data: { digest: keys.digest(token), ownerId, expiresAt } });
  return { token, expiresAt };
}

/** Whose link this is; null when it does not work, or not any more. */
export async function findLinkOwner(db: Db, keys: Keys, token: string, now: number) {
  const link = await db.signInLink.findFirst({
    where: { digest: { in: keys.digests(token) }, expiresAt: { gt: new Date(now) }, owner: { active: true } },
    select: { digest: true, owner: { select: { id: true, accountId: true, subject: true, role: true } } },
  });
  return link && { digest: link.digest, ...link.owner };
}

/** The users who decide whether the dashboard is set up: the active admins of the first account, the oldest first. */
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

/** Whether an admin can sign in with a password. */
export async function isSetUp(db: Db): Promise<boolean> {
  return (await firstAdmins(db)).some(({ password }) => password !== null);
}

/**
 * What a start shows to whoever operates the gateway: a link for the first admin.
 * @returns its token; null when an admin has a password, and so needs none.
 */
export async function createFirstAdminLink(prisma: PrismaClient, keys: Keys, now: number): Promise<string | null> {
  return prisma.$transaction(async (tx) => {
    const admins = await firstAdmins(tx);
    const [first] = admins;
    if (!first || admins.some(({ password }) => password !== null)) return null;
    return (await createSignInLink(tx, keys, first.id, now)).token;
  });
}
