// Browser sessions: a browser in which a user is signed in.

import type { Change, Changes } from '../changes.ts';
import type { Db, PrismaClient } from '../client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { Keys } from '../keys.ts';
import { newToken } from './secrets.ts';

/** A session ends when it was not used for so long, and in any case after the second; milliseconds. */
const IDLE_MS = 12 * 60 * 60 * 1000;
const LIFE_MS = 30 * 24 * 60 * 60 * 1000;
/** The last use is noted no more often than this. */
const NOTE_MS = 60_000;
/** Of more sessions of one user, those that were not used for the longest time end. */
const SESSIONS_MAX = 100;
/** How changes call them. */
const kind = 'browserSession';

type Announce = (change: Change) => void;

export interface SignedIn {
  id: string;
  accountId: string;
  ownerId: string;
  isAdmin: boolean;
}

/** The part of a query that leaves only sessions that have not ended. */
export function underWay(now: number) {
  return { expiresAt: { gt: new Date(now) }, lastUsedAt: { gt: new Date(now - IDLE_MS) } };
}

/** Begins a session. @returns its id, and the token that is nowhere else. */
export async function openSession(
  { db, announce, keys, now }: { db: Db; announce: Announce; keys: Keys; now: number },
  owner: { id: string; accountId: string },
  browser: { ip: string; userAgent: string },
) {
  const { id: ownerId, accountId } = owner;
  const token = newToken();
  const at = new Date(now);
  const id = newId('bs');
  await db.browserSession.create({
    data: {
      ...{ id, accountId, ownerId, digest: keys.digest(token), ...browser },
      ...{ createdAt: at, lastUsedAt: at, expiresAt: new Date(now + LIFE_MS) },
    },
  });
  announce({ kind, action: 'CREATED', id, accountId });
  const tooMany = await db.browserSession.findMany({
    where: { ownerId },
    orderBy: [{ lastUsedAt: 'desc' }, { id: 'desc' }],
    skip: SESSIONS_MAX,
    select: { id: true },
  });
  if (tooMany.length > 0) await endSessions(db, announce, { id: { in: tooMany.map(({ id }) => id) } });
  return { id, token };
}

/** Who is signed in with this token, which counts as a use; null when nobody is, or not any more. */
export async function signedIn(prisma: PrismaClient, keys: Keys, token: string, now: number): Promise<SignedIn | null> {
  const row = await prisma.browserSession.findFirst({
    where: { digest: { in: keys.digests(token) }, ...underWay(now), owner: { active: true, kind: 'USER' } },
    select: {
      ...{ id: true, accountId: true, ownerId: true, digest: true, lastUsedAt: true },
      owner: { select: { role: true } },
    },
  });
  if (!row) return null;
  const { id, accountId, ownerId } = row;
  const digest = keys.digest(token);
  const isToBeNoted = row.digest !== digest || row.lastUsedAt.getTime() <= now - NOTE_MS;
  // The digest is another one when the server key was rotated. A session that ended meanwhile is not there any more.
  if (isToBeNoted)
    await prisma.browserSession.updateMany({ where: { id }, data: { digest, lastUsedAt: new Date(now) } });
  return { id, accountId, ownerId, isAdmin: row.owner.role === 'ADMIN' };
}

/** Ends sessions at once, with the streams that were opened in them. @returns how many. */
export async function endSessions(db: Db, announce: Announce, where: Prisma.BrowserSessionWhereInput): Promise<number> {
  const ended = await db.browserSession.findMany({ where, select: { id: true, accountId: true } });
  const { count } = await db.browserSession.deleteMany({ where: { id: { in: ended.map(({ id }) => id) } } });
  for (const { id, accountId } of ended) announce({ kind, action: 'DELETED', id, accountId });
  return count;
}

/** Removes what has ended by itself: sessions, and links. */
export async function sweepSignIns(prisma: PrismaClient, changes: Changes, now: number): Promise<void> {
  await prisma.signInLink.deleteMany({ where: { expiresAt: { lte: new Date(now) } } });
  const isOver = { NOT: underWay(now) };
  if ((await prisma.browserSession.count({ where: isOver })) === 0) return;
  await changes.transaction(prisma, (tx, announce) => endSessions(tx, announce, isOver));
}
