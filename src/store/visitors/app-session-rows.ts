// The rows of visitors' sessions: how they are found, begun, renewed and ended. What is in them is sealed, and opened elsewhere.

import type { Announce, Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import type { AppSession } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { Keys } from '../keys/keys.ts';
import { newToken } from '../sign-in/secrets.ts';
import { APP_SESSION_KIND, APP_SESSION_PREFIX } from './app-session-kind.ts';
import { type AppIdentity, recordSignIn } from './app-users.ts';

/** The most sessions of one user. Beyond it, the least recently used ones end. */
const SESSIONS_MAX = 100;
/** The most sessions that one sweep deletes. */
const SWEPT_MAX = 5000;
/** How many sessions are in memory while all are sealed anew. */
const RESEALED_MAX = 500;

/** A session that begins. */
export interface NewAppSession
  extends Pick<AppSession, 'accountId' | 'site' | 'terms' | 'endpointId' | 'publicUrl' | 'ip' | 'userAgent'> {
  /** Whose it is. */
  user: AppIdentity;
  /** Seals the session's tokens. @param id that of the session. */
  seal(id: string): string;
  /** How long it lives without use, and in any case; milliseconds. */
  idleMs: number;
  maxMs: number;
}

/** What the parts of a write have in common. */
export interface AppSessionDeps {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  /** The wall clock, in milliseconds. */
  now(): number;
}

/** Begins a session. @returns its id, and the token of its cookie, of which only the digest is stored. */
export async function beginAppSession(
  { prisma, changes, keys, now }: AppSessionDeps,
  { user, seal, idleMs, maxMs, ...place }: NewAppSession,
): Promise<{ id: string; token: string }> {
  const token = newToken();
  const [id, at] = [newId(APP_SESSION_PREFIX), new Date(now())];
  await changes.transaction(prisma, async (tx, announce) => {
    const userId = await recordSignIn(tx, announce, place.accountId, user, at);
    await tx.appSession.create({
      data: {
        ...{ ...place, id, userId, digest: keys.digest(token), sealed: seal(id) },
        ...{ checkedAt: at, createdAt: at, lastActiveAt: at },
        ...{ idleEndsAt: new Date(now() + idleMs), expiresAt: new Date(now() + maxMs) },
      },
      select: { id: true },
    });
    announce({ kind: APP_SESSION_KIND, action: 'CREATED', id, accountId: place.accountId });
    const tooMany = await tx.appSession.findMany({
      where: { userId },
      orderBy: [{ lastActiveAt: 'desc' }, { id: 'desc' }],
      skip: SESSIONS_MAX,
      select: { id: true },
    });
    if (tooMany.length > 0) await endAppSessions(tx, announce, { id: { in: tooMany.map((one) => one.id) } });
  });
  return { id, token };
}

/** The session of a cookie's token, whether or not its time is over; null when there is none. */
export function findAppSession({ prisma, keys }: AppSessionDeps, token: string, accountId: string) {
  return prisma.appSession.findFirst({
    where: { accountId, digest: { in: keys.digests(token) } },
    include: { user: { select: { issuer: true, subject: true } } },
  });
}

/** A session and whose it is at the provider. */
export type FoundAppSession = NonNullable<Awaited<ReturnType<typeof findAppSession>>>;

/**
 * Notes that a session is used. It does not fail when the session has ended meanwhile.
 * @param keyed replaces what was made with the previous server key.
 */
export async function touchAppSession(
  { prisma, now }: AppSessionDeps,
  { id, userId }: Pick<AppSession, 'id' | 'userId'>,
  keyed: Pick<AppSession, 'digest' | 'terms'>,
  idleMs: number,
): Promise<void> {
  const lastActiveAt = new Date(now());
  const idleEndsAt = new Date(now() + idleMs);
  await prisma.appSession.updateMany({ where: { id }, data: { ...keyed, lastActiveAt, idleEndsAt } });
  await prisma.appUser.updateMany({ where: { id: userId }, data: { lastActiveAt } });
}

/**
 * Takes the lease under which one process alone renews the tokens of a session.
 * @returns false when another one has it, or has renewed them since they were read.
 */
export async function takeRenewal(
  { prisma, now }: AppSessionDeps,
  { id, version }: Pick<AppSession, 'id' | 'version'>,
  leaseMs: number,
): Promise<boolean> {
  const { count } = await prisma.appSession.updateMany({
    where: { id, version, OR: [{ renewedUntil: null }, { renewedUntil: { lte: new Date(now()) } }] },
    data: { renewedUntil: new Date(now() + leaseMs) },
  });
  return count === 1;
}

/** Stores what was renewed, and gives the lease back. @returns whether the session was still there. */
export async function storeRenewal(
  { prisma }: AppSessionDeps,
  { id, version }: Pick<AppSession, 'id' | 'version'>,
  data: Partial<Pick<AppSession, 'sealed' | 'checkedAt'>>,
): Promise<boolean> {
  const renewed = { ...data, version: version + 1, renewedUntil: null };
  return (await prisma.appSession.updateMany({ where: { id, version }, data: renewed })).count === 1;
}

/** Ends sessions. @returns their ids. */
export async function endAppSessions(
  tx: Db,
  announce: Announce,
  where: { id?: string | { in: string[] }; accountId?: string; userId?: string; digest?: { in: string[] } },
): Promise<string[]> {
  const ended = await tx.appSession.findMany({ where, select: { id: true, accountId: true } });
  await tx.appSession.deleteMany({ where: { id: { in: ended.map(({ id }) => id) } } });
  for (const { id, accountId } of ended) announce({ kind: APP_SESSION_KIND, action: 'DELETED', id, accountId });
  return ended.map(({ id }) => id);
}

/** Calls the listener with the ids of sessions that have ended, undefined when it may have missed some. @returns what ends that. */
export function followEndedAppSessions(
  changes: Changes,
  listener: (ids: readonly string[] | undefined) => Promise<void>,
): () => void {
  const stops = [
    changes.follow(async (changed) => {
      const ids = changed.flatMap(({ kind, action, id }) =>
        kind === APP_SESSION_KIND && action === 'DELETED' ? id : [],
      );
      if (ids.length > 0) await listener(ids);
    }),
    changes.onGap(() => void listener(undefined)),
  ];
  return () => stops.forEach((stop) => void stop());
}

/** The condition of a query for sessions that have not ended. */
export function whereAlive(now: number) {
  return { expiresAt: { gt: new Date(now) }, idleEndsAt: { gt: new Date(now) } };
}

/** The place that the sealed member of a row is bound to. */
export const sealedPlace = (id: string) => `app_session:${id}:sealed`;

/** Seals the tokens of all sessions with the current server key. */
export async function resealAppSessions(db: Db, keys: Keys): Promise<void> {
  for (let after = ''; ; ) {
    const page = { orderBy: { id: 'asc' }, take: RESEALED_MAX, select: { id: true, sealed: true } } as const;
    const rows = await db.appSession.findMany({ where: { id: { gt: after } }, ...page });
    for (const { id, sealed } of rows) {
      const resealed = keys.seal(keys.open(sealed, sealedPlace(id)), sealedPlace(id));
      await db.appSession.update({ where: { id }, data: { sealed: resealed }, select: { id: true } });
    }
    after = rows.at(-1)?.id ?? '';
    if (rows.length < RESEALED_MAX) return;
  }
}

/** Deletes sessions whose time is over. */
export async function sweepAppSessions(prisma: PrismaClient, changes: Changes, now: number): Promise<void> {
  const over = { OR: [{ expiresAt: { lte: new Date(now) } }, { idleEndsAt: { lte: new Date(now) } }] };
  const ids = (await prisma.appSession.findMany({ where: over, select: { id: true }, take: SWEPT_MAX })).map(
    ({ id }) => id,
  );
  if (ids.length === 0) return;
  await changes.transaction(prisma, (tx, announce) => endAppSessions(tx, announce, { id: { in: ids } }));
}
