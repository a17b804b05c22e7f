// Browser sessions: a browser in which a user is signed in.

import { timingSafeEqual } from 'node:crypto';
import type { Change, Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { Keys } from '../keys/keys.ts';
import { newToken } from './secrets.ts';

/** A session ends when it was not used for so long, and in any case after the second; milliseconds. */
const IDLE_MS = 12 * 60 * 60 * 1000;
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;
/** The last use is noted no more often than this. */
const LAST_USED_PRECISION_MS = 60_000;
/** Of more sessions of one user, those that were not used for the longest time end. */
const SESSIONS_MAX = 100;
/** How changes call them. */
const kind = 'browserSession';

type Announce = (change: Change) => void;

export interface AuthenticatedSession {
  id: string;
  accountId: string;
  ownerId: string;
  isAdmin: boolean;
}

/** The part of a query that leaves only sessions that have not ended. */
export function whereActive(now: number) {
  return { expiresAt: { gt: new Date(now) }, lastUsedAt: { gt: new Date(now - IDLE_MS) } };
}

export interface NewSession {
  id: string;
  /** For the cookie, which browsers send to every port of the host. */
  token: string;
  /** For the storage of the page, which belongs to its origin, port included. */
  pageSecret: string;
}

/** What a browser proves itself with: neither is enough alone. */
export type SessionProof = Omit<NewSession, 'id'>;

/** Begins a session. @returns its id, and both secrets, which are nowhere else. */
export async function openSession(
  { db, announce, keys, now }: { db: Db; announce: Announce; keys: Keys; now: number },
  owner: { id: string; accountId: string },
  browser: { ip: string; userAgent: string },
): Promise<NewSession> {
  const { id: ownerId, accountId } = owner;
  const [token, pageSecret] = [newToken(), newToken()];
  const at = new Date(now);
  const id = newId('bs');
  await db.browserSession.create({
    data: {
      ...{ id, accountId, ownerId, digest: keys.digest(token), pageDigest: keys.digest(pageSecret), ...browser },
      ...{ createdAt: at, lastUsedAt: at, expiresAt: new Date(now + MAX_AGE_MS) },
    },
  });
  announce({ kind, action: 'CREATED', id, accountId });
  const tooMany = await db.browserSession.findMany({
    where: { ownerId },
    orderBy: [{ lastUsedAt: 'desc' }, { id: 'desc' }],
    skip: SESSIONS_MAX,
    select: { id: true },
  });
  if (tooMany.length > 0) await endBrowserSessions(db, announce, { id: { in: tooMany.map(({ id }) => id) } });
  return { id, token, pageSecret };
}

/** Who is signed in with this proof, which counts as a use; null when nobody is, or not any more. */
export async function authenticateSession(
  prisma: PrismaClient,
  keys: Keys,
  { token, pageSecret }: SessionProof,
  now: number,
): Promise<AuthenticatedSession | null> {
  const row = await prisma.browserSession.findFirst({
    where: { digest: { in: keys.digests(token) }, ...whereActive(now), owner: { active: true, kind: 'USER' } },
    select: {
      ...{ id: true, accountId: true, ownerId: true, digest: true, pageDigest: true, lastUsedAt: true },
      owner: { select: { role: true } },
    },
  });
  if (!row || !keys.digests(pageSecret).some((known) => isSame(known, row.pageDigest))) return null;
  const { id, accountId, ownerId } = row;
  const [digest, pageDigest] = [keys.digest(token), keys.digest(pageSecret)];
  const needsUpdate = row.digest !== digest || row.lastUsedAt.getTime() <= now - LAST_USED_PRECISION_MS;
  // The digests are others when the server key was rotated. A session that ended meanwhile is not there any more.
  if (needsUpdate)
    await prisma.browserSession.updateMany({ where: { id }, data: { digest, pageDigest, lastUsedAt: new Date(now) } });
  return { id, accountId, ownerId, isAdmin: row.owner.role === 'ADMIN' };
}

/** Gives a session another page secret: whoever had the one before has nothing. @returns it; it is nowhere else. */
export async function renewPageSecret(
  { db, announce, keys }: { db: Db; announce: Announce; keys: Keys },
  { id, accountId }: { id: string; accountId: string },
): Promise<string> {
  const pageSecret = newToken();
  await db.browserSession.updateMany({ where: { id, accountId }, data: { pageDigest: keys.digest(pageSecret) } });
  announce({ kind, action: 'UPDATED', id, accountId });
  return pageSecret;
}

/** Ends sessions at once, with the streams that were opened in them. @returns how many. */
export async function endBrowserSessions(
  db: Db,
  announce: Announce,
  where: Prisma.BrowserSessionWhereInput,
): Promise<number> {
  const ended = await db.browserSession.findMany({ where, select: { id: true, accountId: true } });
  const { count } = await db.browserSession.deleteMany({ where: { id: { in: ended.map(({ id }) => id) } } });
  for (const { id, accountId } of ended) announce({ kind, action: 'DELETED', id, accountId });
  return count;
}

/** Compares digests in a time that tells nothing of where they differ. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Removes what has ended by itself: sessions, and links. */
export async function sweepSignIns(prisma: PrismaClient, changes: Changes, now: number): Promise<void> {
  await prisma.signInLink.deleteMany({ where: { expiresAt: { lte: new Date(now) } } });
  const isOver = { NOT: whereActive(now) };
  if ((await prisma.browserSession.count({ where: isOver })) === 0) return;
  await changes.transaction(prisma, (tx, announce) => endBrowserSessions(tx, announce, isOver));
}
