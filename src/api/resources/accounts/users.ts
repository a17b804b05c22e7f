// Users: the people of an account. In GraphQL only; the specification has no REST paths for them.

import type { Db } from '../../../store/database/client.ts';
import { newId } from '../../../store/ids.ts';
import { endBrowserSessions } from '../../../store/sign-in/sessions.ts';
import { builder } from '../../builder/builder.ts';
import { collection, Node } from '../../collections/collection.ts';
import { boolean, choice, ID_MEMBER, text, time } from '../../collections/members.ts';
import { givesNew, givesObject, mutation } from '../../collections/mutation.ts';
import type { Announce, Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { inLowerCase } from '../../rest-words.ts';
import type { Route } from '../../route.ts';
import { endCapturesOf } from './end-captures.ts';
import { Owner, ownerSearch } from './owner.ts';

const EMAIL_MAX_BYTES = 254; // RFC 5321, section 4.5.3.1.3, less the angle brackets.
const Role = builder.enumType('Role', {
  description: 'What a user may do.',
  extensions: inLowerCase(),
  values: {
    ADMIN: { description: 'Everything in the account.' },
    MEMBER: { description: 'Everything but users, bot users, and what other owners hold.' },
  } as const,
});

const User = builder.prismaObject('Owner', {
  variant: 'User',
  description: 'A person of the account.',
  interfaces: [Node, Owner],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `usr_…`.' }),
    email: t.exposeString('subject', { description: 'The e-mail address, unique among the users of the account.' }),
    role: t.expose('role', { type: Role, description: 'What the user may do.' }),
    hasSecondFactor: t.boolean({
      description: 'Whether the user gives a code when signing in with a password.',
      select: { secondFactor: { select: { confirmedAt: true } } },
      resolve: ({ secondFactor }) => Boolean(secondFactor?.confirmedAt),
    }),
    hasPasskeys: t.boolean({
      description: 'Whether the user can sign in with a passkey.',
      select: { passkeys: { take: 1, select: { id: true } } },
      resolve: ({ passkeys }) => passkeys.length > 0,
    }),
  }),
});

export const users = collection({
  kind: 'user',
  prefix: 'usr',
  path: '/users',
  single: 'user',
  plural: 'users',
  typeName: 'User',
  ref: User,
  members: {
    ...ID_MEMBER,
    created_at: time('createdAt'),
    email: text('subject', { isOrdered: true }),
    role: choice('role', Role, { admin: 'ADMIN', member: 'MEMBER' }),
    active: boolean('active'),
  },
  table: (db) => db.owner,
  where: () => ({ kind: 'USER' }),
  audit: { name: 'user', subject: 'A user', selection: 'id email role active mayReadBodies createdAt' },
  conflicts: { taken: 'emailTaken' },
  search: ownerSearch(70, 'USER'),
});

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'A new user.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The e-mail address; at most 254 bytes.' }),
    role: t.field({ type: Role, description: 'What the user may do; `MEMBER` when left out.' }),
  }),
});

const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    role: t.field({ type: Role, description: 'What the user may do from now on.' }),
    active: t.boolean({
      description: 'Whether the user may sign in, and the user’s API keys and credentials are accepted, from now on.',
    }),
    mayReadBodies: t.boolean({
      description: 'Whether a member may read the bodies of captured requests from now on; admins always may.',
    }),
  }),
});

mutation('createUser', givesNew('user', 'User'), (t) =>
  t.prismaField({
    type: User,
    nullable: true,
    access: { kind: null, adminsOnly: 'adminsOnly' },
    description: 'Adds a user to the account. Only admins may.',
    args: {
      input: t.arg({ type: CreateUserInput, required: true, description: 'The new user.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId } = context;
      const subject = checkEmail(input.email);
      const data = { id: newId(users.prefix), accountId, kind: 'USER', role: input.role ?? 'MEMBER', subject } as const;
      return context.create(users, (db) => db.owner.create({ ...query, data }));
    },
  }),
);

mutation('updateUser', givesObject('user'), (t) =>
  t.prismaField({
    type: User,
    nullable: true,
    access: { kind: null, adminsOnly: 'adminsOnly' },
    description:
      'Changes a user’s role or rights, or lets the user in again. The account keeps one active admin at least. Only admins may.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the user.' }),
      input: t.arg({ type: UpdateUserInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) =>
      changeUser(context, query, id, {
        role: input.role ?? undefined,
        active: input.active ?? undefined,
        mayReadBodies: input.mayReadBodies ?? undefined,
      }),
  }),
);

mutation('deactivateUser', givesObject('user'), (t) =>
  t.prismaField({
    type: User,
    nullable: true,
    access: { kind: null, adminsOnly: 'adminsOnly' },
    description:
      'Shuts a user out: its API keys are refused from the next request on, and its browser sessions end. The account keeps one active admin at least. Only admins may.',
    args: { id: t.arg.id({ required: true, description: 'The id of the user.' }) },
    resolve: (query, _, { id }, context) => changeUser(context, query, id, { active: false }),
  }),
);

interface UserChange {
  role?: 'ADMIN' | 'MEMBER' | undefined;
  active?: boolean | undefined;
  mayReadBodies?: boolean | undefined;
}

/** Changes a user of the caller's account. @param query what is to be read of it. */
export async function changeUser(context: Context, query: object, id: string, data: UserChange) {
  const { accountId } = context;
  const write = (db: Db, announce: Announce) =>
    changeRow(db, announce, { query, where: { id, accountId, kind: 'USER' }, data });
  if (data.active !== false) return context.update(users, id, write);
  return context.inTransaction(async (transaction) => {
    const user = await transaction.update(users, id, write);
    await endCapturesOf(transaction, id);
    return user;
  });
}

async function changeRow(
  db: Db,
  announce: Announce,
  { query, where, data }: { query: object; where: { id: string; accountId: string; kind: 'USER' }; data: UserChange },
) {
  const { id, accountId } = where;
  // One at a time, so that two admins cannot shut each other out at once.
  await db.$queryRaw`SELECT id FROM account WHERE id = ${accountId} FOR UPDATE`;
  const user = await db.owner.update({ ...query, where, data });
  const admins = await db.owner.count({ where: { accountId, kind: 'USER', role: 'ADMIN', active: true } });
  if (admins === 0) throw new ApiError('lastAdmin');
  if (data.active === false) {
    await endBrowserSessions(db, announce, { ownerId: id });
    await db.signInLink.deleteMany({ where: { ownerId: id } });
  }
  return user;
}

function checkEmail(text: string): string {
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(text) && Buffer.byteLength(text) <= EMAIL_MAX_BYTES;
  if (!isAddress) throw new ApiError('badEmail', { member: 'email', max: EMAIL_MAX_BYTES });
  return text.toLowerCase();
}

export const routes: Route[] = [];
