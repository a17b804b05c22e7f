// What the ways of signing in have in common.

import type { Db } from '../../store/database/client.ts';
import type { SecondFactorKind } from '../../store/sign-in/second-factors.ts';
import { endBrowserSessions, type NewSession, openSession, renewPageSecret } from '../../store/sign-in/sessions.ts';
import type { SigningIn } from '../caller.ts';
import type { Caller, Context, RecordedAct } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import type { SignInWay } from '../exchange.ts';
import { addressRefusal } from './address-access.ts';

/** Of so many accounts that know one e-mail address, each user may sign in; in one account it is unique. */
const SAME_EMAIL_MAX = 3;

export interface User extends Omit<SigningIn, 'sessionId'> {
  role: 'ADMIN' | 'MEMBER';
}

/** One whose password was right. */
interface VerifiedUser extends User {
  hash: string;
}

/** @throws {ApiError} when only another user may have a password or passkeys, as all others use single sign-on. */
export function checkMayHavePassword({ app }: Context, email: string): void {
  const only = app.signIn.singleSignOn?.settings.passwordUser;
  if (only !== undefined && only !== email) throw new ApiError('passwordNotOffered');
}

/** The user with this e-mail address and password; null when there is none, which takes as long. */
export async function findUserByPassword(
  context: Context,
  email: string,
  password: string,
): Promise<VerifiedUser | null> {
  const { db, app, client } = context;
  const users = await db.owner.findMany({
    where: { kind: 'USER', subject: email, active: true, password: { isNot: null } },
    orderBy: { id: 'asc' },
    take: SAME_EMAIL_MAX,
    select: { id: true, accountId: true, subject: true, role: true, password: { select: { hash: true } } },
  });
  for (const { password: stored, ...user } of users)
    if (stored && (await app.signIn.verifyPassword(password, stored.hash))) return { ...user, hash: stored.hash };
  if (users.length === 0) await app.signIn.verifyPassword(password, undefined);
  client.recordSignIn({ outcome: 'failed', by: 'password', userId: users[0]?.id });
  for (const user of users) recordFailedSignIn(context, user, { by: 'password', at: 'sign-in' });
  return null;
}

/** Who gave it is not known, nor who waits for the answer to find out whether there is such a user. */
export function recordFailedSignIn(
  context: Context,
  { id, accountId, subject }: Omit<User, 'role'>,
  after: { by: 'password' | 'code' | 'passkey'; at: string },
): void {
  context.app.audit.recordSparingly(context, `sign-in ${id}`, {
    ...{ action: 'SIGN_IN_FAILED', kind: 'user', objectId: id, objectName: subject, after },
    actor: { id: '', accountId, subject: '' },
  });
}

/**
 * Whether a user may sign in still. While a password was compared or made, somebody may have changed it, or have shut the
 * user out; until the end of the transaction nobody can.
 * @param hash of the password that was right; left out: a link was.
 */
export async function maySignIn({ db }: Context, ownerId: string, hash?: string): Promise<boolean> {
  const active = await db.$queryRaw<object[]>`SELECT 1 FROM owner WHERE id = ${ownerId} AND active FOR SHARE`;
  return active.length > 0 && (hash === undefined || (await hasSamePassword(db, ownerId, hash)));
}

async function hasSamePassword(db: Db, ownerId: string, hash: string): Promise<boolean> {
  const same = await db.$queryRaw<object[]>`
    SELECT 1 FROM password WHERE owner_id = ${ownerId} AND hash = ${hash} FOR UPDATE`;
  return same.length > 0;
}

/**
 * Refuses a user whose account must not be used in a browser from there. It is called before there is a transaction.
 * @throws {ApiError}
 */
export async function checkSignInAddress(
  { app, client }: Context,
  { id: userId, accountId }: Omit<User, 'role'>,
  by: SignInWay,
): Promise<void> {
  const refused = await addressRefusal(app, 'dashboard', accountId, client.ip);
  if (!refused) return;
  client.recordSignIn({ outcome: 'failed', by, userId, reason: 'the IP restriction refuses the address' });
  throw refused;
}

/**
 * Begins a browser session of a user, in place of the one that the browser had.
 * @param secondFactor what the user has proved beside it.
 * @throws {ApiError} when the account is not to be used in a browser from there.
 */
export async function beginSession(
  context: Context,
  user: User,
  by: SignInWay,
  secondFactor?: SecondFactorKind,
): Promise<NewSession> {
  const { app, client, authenticatedCaller } = context;
  const browser = { ip: client.ip, userAgent: client.userAgent };
  if (app.restrictions.of('dashboard', user.accountId)?.refuses(client.ip))
    throw new ApiError('dashboardAddressRefused', { ip: client.ip });
  return context.act(async (db, announce) => {
    if (authenticatedCaller?.sessionId !== undefined)
      await endBrowserSessions(db, announce, { id: authenticatedCaller.sessionId });
    const session = await openSession({ db, announce, keys: app.keys, now: app.now() }, user, browser);
    const actor = { ...user, sessionId: session.id };
    return {
      result: session,
      acts: [{ ...actOnUser(user, 'SIGNED_IN'), actor, after: { by, second_factor: secondFactor } }],
    };
  });
}

function actOnUser({ id, subject }: Pick<User, 'id' | 'subject'>, action: RecordedAct['action']): RecordedAct {
  return { action, kind: 'user', objectId: id, objectName: subject };
}

/** Hands over the session that was begun, and is in the database for good. @returns who has it. */
export function completeSignIn(
  { client }: Context,
  user: User,
  { id: sessionId, token, pageSecret }: NewSession,
  by: SignInWay,
): Caller {
  client.setSession({ id: sessionId, token });
  client.recordSignIn({ outcome: 'ok', by, userId: user.id });
  const { accountId, id: ownerId, subject, role } = user;
  return { accountId, ownerId, subject, isAdmin: role === 'ADMIN', sessionId, pageSecret };
}

/**
 * Gives a user a password. The other browser sessions of the user end, and no link works any more.
 * @param by how the user proved to be that user.
 */
export async function setPassword(
  context: Context,
  user: Omit<User, 'role'>,
  hash: string,
  by: SignInWay,
): Promise<void> {
  const { app, authenticatedCaller } = context;
  const { id: ownerId } = user;
  const changedAt = new Date(app.now());
  await context.act(async (db, announce) => {
    await db.password.upsert({ where: { ownerId }, create: { ownerId, hash, changedAt }, update: { hash, changedAt } });
    await db.signInLink.deleteMany({ where: { ownerId } });
    await endBrowserSessions(db, announce, { ownerId, id: { not: authenticatedCaller?.sessionId } });
    // Who comes with a link is nobody yet, or may be somebody else.
    const actor = by === 'link' ? user : undefined;
    return { result: undefined, acts: [{ ...actOnUser(user, 'PASSWORD_SET'), actor, after: { by } }] };
  });
}

/** Gives the browser session that asks another page secret. @returns the caller, with it; as it was where a key came. */
export async function withNewPageSecret(context: Context): Promise<Caller> {
  const { caller, app } = context;
  const { sessionId: id, accountId } = caller;
  if (id === undefined) return caller;
  const pageSecret = await context.withoutAudit((db, announce) =>
    renewPageSecret({ db, announce, keys: app.keys }, { id, accountId }),
  );
  return { ...caller, pageSecret };
}

/**
 * The caller, who has given the own password.
 * @param as the member of the input that has it, and what it is for, which the audit trail tells of a wrong one.
 * @throws {ApiError} when it is wrong, or there is none.
 */
export async function checkOwnPassword(
  context: Context,
  given: string,
  { member, at }: { member: string; at: string },
): Promise<Omit<VerifiedUser, 'role'>> {
  const { app, client, caller, db } = context;
  const where = { id: caller.ownerId };
  const select = { id: true, accountId: true, subject: true, password: { select: { hash: true } } };
  const { password, ...user } = await db.owner.findUniqueOrThrow({ where, select });
  if (!password) throw new ApiError('noPassword');
  checkMayHavePassword(context, user.subject);
  const isRight = async () => (await app.signIn.verifyPassword(given, password.hash)) || null;
  if (await app.signIn.attempts.run(user.subject, client.ip, isRight)) return { ...user, hash: password.hash };
  recordFailedSignIn(context, user, { by: 'password', at });
  throw new ApiError('wrongPassword', { member });
}
