// Browser sessions of signed-in users.

import { timingSafeEqual } from 'node:crypto';
import type { Change, Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { Keys } from '../keys/keys.ts';
import { newToken } from './secrets.ts';

/** A session ends after so many milliseconds without use, and in any case after its maximum age. */
const IDLE_MS = 12 * 60 * 60 * 1000;
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;
/** The time of the last use is stored at most this often, in milliseconds. */
const LAST_USED_PRECISION_MS = 60_000;
/** The most sessions of one user. Beyond it, the least recently used ones end. */
const SESSIONS_MAX = 100;
/** The kind of browser sessions in the change feed. */
const kind = 'browserSession';

type Announce = (change: Change) => void;

export interface AuthenticatedSession {
  id: string;
  accountId: string;
  ownerId: string;
  subject: string;
  isAdmin: boolean;
}

/** The condition of a query for sessions that have not ended. */
export function whereActive(now: number) {
  return { expiresAt: { gt: new Date(now) }, lastUsedAt: { gt: new Date(now - IDLE_MS) } };
}

export interface NewSession {
  id: string;
  /** The value of the cookie, which browsers send to every port of the host. */
  token: string;
  /** The value in the local storage of the page, which belongs to one origin including its port. */
  pageSecret: string;
}

/** The two secrets of a browser session. Both are required. */
export type SessionProof = Omit<NewSession, 'id'>;

/** Opens a session. @returns its id and both secrets, of which only digests are stored. */
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

/** The session of these secrets, which counts as a use of it; null when they are wrong or the session has ended. */
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
      owner: { select: { role: true, subject: true } },
    },
  });
  if (!row || !keys.digests(pageSecret).some((known) => isSame(known, row.pageDigest))) return null;
  const { id, accountId, ownerId } = row;
  const [digest, pageDigest] = [keys.digest(token), keys.digest(pageSecret)];
  const needsUpdate = row.digest !== digest || row.lastUsedAt.getTime() <= now - LAST_USED_PRECISION_MS;
  // The digests change when the server key is rotated. updateMany does not fail if the session ended meanwhile.
  if (needsUpdate)
    await prisma.browserSession.updateMany({ where: { id }, data: { digest, pageDigest, lastUsedAt: new Date(now) } });
  return { id, accountId, ownerId, subject: row.owner.subject, isAdmin: row.owner.role === 'ADMIN' };
}

/** Replaces the page secret of a session, so that the old one is no longer valid. @returns the new secret, of which only a digest is stored. */
export async function renewPageSecret(
  { db, announce, keys }: { db: Db; announce: Announce; keys: Keys },
  { id, accountId }: { id: string; accountId: string },
): Promise<string> {
  const pageSecret = newToken();
  await db.browserSession.updateMany({ where: { id, accountId }, data: { pageDigest: keys.digest(pageSecret) } });
  announce({ kind, action: 'UPDATED', id, accountId });
  return pageSecret;
}

/** Ends sessions at once; the streams opened in them end with them. @returns which ended, and whose they were. */
export async function endBrowserSessions(
  db: Db,
  announce: Announce,
  where: Prisma.BrowserSessionWhereInput,
): Promise<{ id: string; ownerId: string }[]> {
  const ended = await db.browserSession.findMany({ where, select: { id: true, accountId: true, ownerId: true } });
  await db.browserSession.deleteMany({ where: { id: { in: ended.map(({ id }) => id) } } });
  for (const { id, accountId } of ended) announce({ kind, action: 'DELETED', id, accountId });
  return ended;
}

/** Compares digests in constant time. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Deletes expired sessions, links and challenges. */
export async function sweepSignIns(prisma: PrismaClient, changes: Changes, now: number): Promise<void> {
  const where = { expiresAt: { lte: new Date(now) } };
  await prisma.signInLink.deleteMany({ where });
  await prisma.spentChallenge.deleteMany({ where });
  const isOver = { NOT: whereActive(now) };
  if ((await prisma.browserSession.count({ where: isOver })) === 0) return;
  await changes.transaction(prisma, (tx, announce) => endBrowserSessions(tx, announce, isOver));
}
