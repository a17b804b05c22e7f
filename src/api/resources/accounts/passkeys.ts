// The passkeys of users who sign in with a password, too (WebAuthn). In GraphQL only.

import { addPasskey, lockPasskeyOwner, PASSKEYS_MAX, spendChallenge } from '../../../store/sign-in/passkeys.ts';
import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import { Node, registerResource } from '../../collections/nodes.ts';
import type { Context, RecordedAct } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import type { Route } from '../../route.ts';
import {
  askForNewPasskey,
  expiryOf,
  PasskeyNotPassed,
  takeChallenge,
  verifyNewPasskey,
} from '../../sign-in/passkey-ceremonies.ts';
import { checkCodeGiven, passSecondFactor } from '../../sign-in/second-factor-steps.ts';
import { checkMayHavePassword, checkOwnPassword, maySignIn } from '../../sign-in/sign-in-steps.ts';

const NAME_MAX_BYTES = 255;
const REASON_MAX = 200;
const nameHelp = `What you call it: one line of 1 to ${NAME_MAX_BYTES} bytes.`;
const codeHelp = 'A code of the app, or a recovery code: needed when you have a second factor.';

const Passkey = builder.prismaObject('Passkey', {
  description: 'A key pair on a device of a user, which signs in to the dashboard without a password (WebAuthn).',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `pky_…`.' }),
    name: t.exposeString('name', { description: 'What the user calls it.' }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was added.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When it was last used to sign in; null when it never was.',
    }),
  }),
});

registerResource({
  kind: 'passkey',
  prefix: 'pky',
  typeName: 'Passkey',
  ref: Passkey,
  table: (db) => db.passkey,
  find: ({ db, caller }, ids, query) =>
    db.passkey.findMany({ ...query, where: { id: { in: [...ids] }, ownerId: caller.ownerId } }),
});

const PasskeyProofInput = builder.inputType('PasskeyProofInput', {
  description: 'What proves that it is you who adds a passkey, or removes one.',
  fields: (t) => ({
    password: t.string({ required: true, description: 'Your password.' }),
    code: t.string({ description: codeHelp }),
  }),
});

const AddPasskeyInput = builder.inputType('AddPasskeyInput', {
  description: 'A passkey that a browser has made.',
  fields: (t) => ({
    name: t.string({ required: true, description: nameHelp }),
    credential: t.field({
      type: 'Json',
      required: true,
      description: 'What `PublicKeyCredential.toJSON()` gives.',
    }),
  }),
});

builder.queryField('passkeys', (t) =>
  t.prismaField({
    type: [Passkey],
    nullable: true,
    access: { kind: null },
    description: `Your passkeys, the newest first; at most ${PASSKEYS_MAX}.`,
    resolve: (query, _, __, { db, caller }) =>
      db.passkey.findMany({ ...query, where: { ownerId: caller.ownerId }, orderBy: { id: 'desc' } }),
  }),
);

mutation(
  'beginPasskey',
  { gives: ['options', 'What `PublicKeyCredential.parseCreationOptionsFromJSON()` takes.'] },
  (t) =>
    t.field({
      type: 'Json',
      nullable: true,
      access: { kind: null },
      description:
        'Begins to add a passkey, for yourself. Answers with what `PublicKeyCredential.parseCreationOptionsFromJSON()` takes; a ' +
        `cookie binds it to this browser, for five minutes. A user may have ${PASSKEYS_MAX} passkeys.`,
      args: { input: t.arg({ type: PasskeyProofInput, required: true, description: 'Your password, and a code.' }) },
      resolve: async (_, { input: { password, code } }, context) => {
        const at = context.app.now();
        const user = await proved(context, { password, code }, 'new passkey');
        const where = { ownerId: user.id };
        const known = await context.db.passkey.findMany({ where, select: { credentialId: true, transports: true } });
        checkRoom(known.length);
        return askForNewPasskey(context, user, { known, at });
      },
    }),
);

mutation('addPasskey', { gives: ['passkey', 'The new passkey.'] }, (t) =>
  t.prismaField({
    type: Passkey,
    nullable: true,
    access: { kind: null },
    description:
      'Adds the passkey that was made after `beginPasskey`: from then on it signs you in, without a password or code.',
    args: { input: t.arg({ type: AddPasskeyInput, required: true, description: 'The passkey.' }) },
    resolve: async (query, _, { input }, context) => {
      const { app, accountId, caller } = context;
      const { ownerId, subject } = caller;
      const { name, answer } = await checkAll({
        name: () => checkPasskeyName(input.name),
        async answer() {
          checkMayHavePassword(context, subject);
          const asked = takeChallenge(context, ownerId);
          return { asked, made: await verifyNewPasskey(context, asked, input.credential).catch(translate) };
        },
      });
      const { asked, made } = answer;
      return context.act(async (db, announce) => {
        if (!(await lockPasskeyOwner(db, ownerId, asked.at))) throw new ApiError('passkeyAttemptOver');
        if (!(await spendChallenge(db, asked.challenge, expiryOf(asked)))) throw new ApiError('passkeyAttemptOver');
        checkRoom(await db.passkey.count({ where: { ownerId } }));
        const id = await addPasskey(db, ownerId, { ...made, name }, app.now());
        if (id === null) throw new ApiError('passkeyKnown');
        announce({ kind: 'user', action: 'UPDATED', id: ownerId, accountId });
        const result = await db.passkey.findUniqueOrThrow({ ...query, where: { id } });
        return { result, acts: [actOn({ id: ownerId, subject }, 'PASSKEY_ADDED', { passkey_id: id, name })] };
      });
    },
  }),
);

mutation('removePasskey', { gives: ['removedPasskeyId', 'The id that the passkey had.'] }, (t) =>
  t.id({
    nullable: true,
    access: { kind: null },
    description: 'Removes a passkey of yours: it signs in no more. Answers with its id.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the passkey: `pky_…`.' }),
      input: t.arg({ type: PasskeyProofInput, required: true, description: 'Your password, and a code.' }),
    },
    resolve: async (_, { id, input: { password, code } }, context) => {
      const where = { id, ownerId: context.caller.ownerId };
      requireFound(await context.db.passkey.findUnique({ where, select: { id: true } }), 'passkey');
      const user = await proved(context, { password, code }, 'end of a passkey');
      await context.inTransaction(async (within) => {
        if (!(await maySignIn(within, user.id, user.hash))) throw new ApiError('wrongPassword', { member: 'password' });
        requireFound((await remove(within, user, where)) || null, 'passkey');
      });
      return id;
    },
  }),
);

mutation(
  'removePasskeys',
  {
    gives: ['removedPasskeys', 'How many passkeys there were.'],
    objects: { user: { kind: 'user', id: ({ userId }) => String(userId) } },
  },
  (t) =>
    t.int({
      nullable: true,
      access: { kind: null, adminsOnly: 'adminsOnly' },
      description:
        'Removes all passkeys of another user, who has lost a device. Tells how many there were. The browser sessions of the ' +
        'user go on: see `signOutEverywhere`. Only admins may.',
      args: { userId: t.arg.id({ required: true, description: 'The id of the user.' }) },
      resolve: async (_, { userId }, context) => {
        const { accountId, caller, db } = context;
        const where = { id: userId, accountId, kind: 'USER' } as const;
        const user = requireFound(await db.owner.findFirst({ where, select: { id: true, subject: true } }), 'user');
        if (user.id === caller.ownerId) throw new ApiError('ownPasskeys');
        return remove(context, user, { ownerId: user.id });
      },
    }),
);

/** The caller, who has given the password, and a code where there is a second factor. @throws {ApiError} */
async function proved(
  context: Context,
  { password, code }: { password: string; code: string | null | undefined },
  at: string,
) {
  const { user } = await checkAll({
    user: () => checkOwnPassword(context, password, { member: 'password', at }),
    code: () => checkCodeGiven(context, context.caller.ownerId, code),
  });
  await passSecondFactor(context, user, { code, after: 'password', at });
  return user;
}

/** @returns it without blanks around it. */
function checkPasskeyName(given: string): string {
  const name = given.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (name !== '' && Buffer.byteLength(name) <= NAME_MAX_BYTES && !/[\x00-\x1f\x7f\u2028\u2029]/.test(name))
    return name;
  throw new ApiError('passkeyNameWrong', { member: 'name', max: NAME_MAX_BYTES });
}

function checkRoom(count: number): void {
  if (count >= PASSKEYS_MAX) throw new ApiError('tooManyPasskeys', { max: PASSKEYS_MAX });
}

interface NamedUser {
  id: string;
  subject: string;
}

/** @returns how many passkeys were removed. */
function remove(context: Context, user: NamedUser, where: { id?: string; ownerId: string }): Promise<number> {
  return context.act(async (db, announce) => {
    const removed = await db.passkey.findMany({ where, select: { id: true, name: true } });
    const { count } = await db.passkey.deleteMany({ where: { id: { in: removed.map(({ id }) => id) } } });
    if (count > 0) announce({ kind: 'user', action: 'UPDATED', id: user.id, accountId: context.accountId });
    const acts = removed.map(({ id, name }) => actOn(user, 'PASSKEY_REMOVED', { passkey_id: id, name }));
    return { result: count, acts: count > 0 ? acts : [] };
  });
}

/** What is wrong with it may be a setting such as `PUBLIC_API_URL`. It is the caller’s own, who may read it. */
function translate(error: unknown): never {
  if (!(error instanceof PasskeyNotPassed)) throw error;
  throw new ApiError('passkeyRefused', { member: 'credential', reason: error.message.slice(0, REASON_MAX) });
}

function actOn({ id, subject }: NamedUser, action: RecordedAct['action'], after: object): RecordedAct {
  return { action, kind: 'user', objectId: id, objectName: subject, after };
}

export const routes: Route[] = [];
