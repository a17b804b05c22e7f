// Operators. The first account is theirs; others may be of people who do not trust each other. Which user an identity of their provider
// is: one that it has been before, one with its e-mail address, or a new one, all of one account: whoever administers another could give
// a user of his the address of an operator.

import { newId } from '../../../store/ids.ts';
import type { Context } from '../../context.ts';
import type { OperatorIdentity } from '../../dependencies.ts';
import { ApiError } from '../../errors/errors.ts';
import type { User } from '../../sign-in/sign-in-steps.ts';
import type { SingleSignOnSettings } from '../../single-sign-on-settings.ts';
import { changeUser, users } from './users.ts';

const EVERYBODY = '*';

interface KnownUser extends User {
  active: boolean;
  ssoSubject: string | null;
}

const select = { id: true, accountId: true, subject: true, role: true, active: true, ssoSubject: true } as const;

/**
 * The user of an identity, as its groups want it. To be called in the transaction that begins the session.
 * @throws {ApiError} when the identity may not sign in.
 */
export async function operatorOf(
  context: Context,
  identity: OperatorIdentity,
  settings: SingleSignOnSettings,
): Promise<User> {
  const role = roleOf(identity.groups, settings);
  if (role === null) throw new ApiError('ssoNoGroup');
  const accountId = await accountOf(context, settings);
  const known = await findUser(context, accountId, identity);
  if (known && !known.active) throw new ApiError('ssoUserInactive');
  if (!known && role === undefined) throw new ApiError('ssoUnknownUser');
  const user = known ?? (await createUser(context, accountId, identity, role ?? 'MEMBER'));
  const { issuer: ssoIssuer, subject: ssoSubject } = identity;
  if (user.ssoSubject === null) {
    const nobody = { ssoIssuer: null, ssoSubject: null };
    // Earlier versions found users of any account.
    await context.db.owner.updateMany({
      where: { ssoIssuer, ssoSubject, accountId: { not: accountId } },
      data: nobody,
    });
    await context.db.owner.update({ where: { id: user.id }, data: { ssoIssuer, ssoSubject }, select: { id: true } });
  }
  if (role === undefined || role === user.role) return user;
  // Groups that were set up wrongly lock out nobody for good.
  if (user.role === 'ADMIN' && (await isLastAdmin(context, user))) return user;
  await changeUser(contextOf(context, user), {}, user.id, { role });
  return { ...user, role };
}

/** @returns undefined where groups say nothing, null for one of none of the groups. */
function roleOf(groups: readonly string[], { adminGroups, memberGroups }: SingleSignOnSettings) {
  const isIn = (wanted: readonly string[]) => wanted.some((name) => name === EVERYBODY || groups.includes(name));
  if (adminGroups.length + memberGroups.length === 0) return undefined;
  if (isIn(adminGroups)) return 'ADMIN';
  return isIn(memberGroups) ? 'MEMBER' : null;
}

/** @throws {ApiError} unless the caller, who is an admin, is one of the first account: what all accounts share is the operators'. */
export async function checkOperator({ db, accountId }: Context): Promise<void> {
  const first = await db.account.findFirst({ orderBy: { id: 'asc' }, select: { id: true } });
  if (first?.id !== accountId) throw new ApiError('operatorsOnly');
}

/** The account that single sign-on belongs to. */
async function accountOf({ db }: Context, { accountId }: SingleSignOnSettings): Promise<string> {
  const where = accountId === undefined ? {} : { id: accountId };
  const account = await db.account.findFirst({ where, orderBy: { id: 'asc' }, select: { id: true } });
  if (!account) throw new ApiError('ssoUnknownAccount');
  return account.id;
}

async function findUser(
  { db }: Context,
  accountId: string,
  { issuer, subject, email }: OperatorIdentity,
): Promise<KnownUser | null> {
  const linked = await db.owner.findFirst({ where: { accountId, ssoIssuer: issuer, ssoSubject: subject }, select });
  if (linked) return linked;
  if (email === '') throw new ApiError('ssoNoEmail');
  const known = await db.owner.findFirst({ where: { accountId, kind: 'USER', subject: email }, select });
  if (known?.ssoSubject != null) throw new ApiError('ssoUserTaken');
  return known;
}

async function createUser(
  context: Context,
  accountId: string,
  { email }: OperatorIdentity,
  role: User['role'],
): Promise<KnownUser> {
  const data = { id: newId(users.prefix), accountId, kind: 'USER', role, subject: email } as const;
  const user = { ...data, active: true, ssoSubject: null };
  return contextOf(context, user).create(users, (db) => db.owner.create({ data, select }));
}

/** What the user does by signing in is the user's own doing. */
function contextOf(context: Context, { id: ownerId, accountId, subject, role }: User): Context {
  return context.as({ accountId, ownerId, subject, isAdmin: role === 'ADMIN' });
}

async function isLastAdmin({ db }: Context, { id, accountId }: User): Promise<boolean> {
  const others = { accountId, kind: 'USER', role: 'ADMIN', active: true, id: { not: id } } as const;
  return (await db.owner.count({ where: others })) === 0;
}
