// The second factor of users who sign in with a password: an app that shows codes (TOTP, RFC 6238). In GraphQL only.

import { base32, totpUrl } from '../../../store/sign-in/one-time-codes.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  NoSecondFactorBegun,
  removeSecondFactor,
  replaceRecoveryCodes,
  type SecondFactorKind,
} from '../../../store/sign-in/second-factors.ts';
import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import type { Context, RecordedAct } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import type { Route } from '../../route.ts';
import { checkCodeGiven, passSecondFactor } from '../../sign-in/second-factor-steps.ts';
import { checkOwnPassword, maySignIn } from '../../sign-in/sign-in-steps.ts';
import { Viewer } from './viewer.ts';

const SecondFactorSecret = builder.objectRef<{ secret: string; url: string }>('SecondFactorSecret').implement({
  description: 'What an app for codes has to know: either of these.',
  fields: (t) => ({
    secret: t.exposeString('secret', { description: 'The secret in Base32. Nobody can read it afterwards.' }),
    url: t.exposeString('url', {
      description: 'The secret with its name, as apps read it from a picture: `otpauth://…`.',
    }),
  }),
});

const proofInput = (name: string, act: string) =>
  builder.inputType(name, {
    description: `What proves that it is you who ${act}.`,
    fields: (t) => ({
      password: t.string({ required: true, description: 'Your password.' }),
      code: t.string({ required: true, description: 'A code of the app, or a recovery code.' }),
    }),
  });

const DisableSecondFactorInput = proofInput('DisableSecondFactorInput', 'turns the second factor off');
const ReplaceRecoveryCodesInput = proofInput('ReplaceRecoveryCodesInput', 'asks for other recovery codes');

mutation('beginSecondFactor', { gives: ['secret', 'The secret for the app. Nobody can read it afterwards.'] }, (t) =>
  t.field({
    type: SecondFactorSecret,
    nullable: true,
    access: { kind: null },
    description:
      'Makes the secret of an app for codes, for yourself. Nothing is asked of you before `confirmSecondFactor`; another ' +
      'call makes another secret.',
    args: { password: t.arg.string({ required: true, description: 'Your password.' }) },
    resolve: async (_, { password }, context) => {
      const { app, caller } = context;
      const { subject } = await checkOwnPassword(context, password, { member: 'password', at: 'second factor' });
      const secret = await context.withoutAudit((db) => beginSecondFactor(db, app.keys, caller.ownerId));
      if (!secret) throw new ApiError('secondFactorOn');
      const issuer = `Tunnel Gateway ${new URL(context.baseUrl).hostname}`;
      return { secret: base32(secret), url: totpUrl(secret, { issuer, account: subject }) };
    },
  }),
);

const recoveryCodes = { gives: ['recoveryCodes', 'Ten recovery codes. Nobody can read them afterwards.'] } as const;

mutation('confirmSecondFactor', recoveryCodes, (t) =>
  t.stringList({
    nullable: true,
    access: { kind: null },
    description:
      'Turns your second factor on: from then on you give a code when you sign in with your password or a link. Answers with ' +
      'ten recovery codes, each of which works once in place of the app; nobody can read them afterwards.',
    args: { code: t.arg.string({ required: true, description: 'The code that the app shows now.' }) },
    resolve: async (_, { code }, context) => {
      const { accountId, app, caller } = context;
      const { ownerId: id, subject } = caller;
      return context.act(async (db, announce) => {
        const codes = await confirmSecondFactor(db, app.keys, id, { code, now: app.now() }).catch(translate);
        if (!codes) throw new ApiError('wrongCode', { member: 'code' });
        announce({ kind: 'user', action: 'UPDATED', id, accountId });
        return { result: codes, acts: [actOn({ id, subject }, 'SECOND_FACTOR_ON')] };
      });
    },
  }),
);

mutation('disableSecondFactor', { gives: ['viewer', 'Who is signed in now.'] }, (t) =>
  t.field({
    type: Viewer,
    nullable: true,
    access: { kind: null },
    description: 'Turns your second factor off. Its recovery codes end with it.',
    args: {
      input: t.arg({ type: DisableSecondFactorInput, required: true, description: 'Your password and a code.' }),
    },
    resolve: async (_, { input }, context) => {
      await proved(context, { ...input, at: 'end of the second factor' }, turnOff);
      return context.caller;
    },
  }),
);

mutation('replaceRecoveryCodes', recoveryCodes, (t) =>
  t.stringList({
    nullable: true,
    access: { kind: null },
    description:
      'Gives you ten other recovery codes, which nobody can read afterwards. Those of before work no more, nor does the code ' +
      'that you give.',
    args: {
      input: t.arg({ type: ReplaceRecoveryCodesInput, required: true, description: 'Your password and a code.' }),
    },
    resolve: (_, { input }, context) =>
      proved(context, { ...input, at: 'other recovery codes' }, (within, user, by) =>
        within.act(async (db, announce) => {
          const codes = await replaceRecoveryCodes(db, within.app.keys, user.id);
          if (!codes) throw new ApiError('noSecondFactor');
          announce({ kind: 'user', action: 'UPDATED', id: user.id, accountId: within.accountId });
          return { result: codes, acts: [actOn(user, 'RECOVERY_CODES_REPLACED', { by })] };
        }),
      ),
  }),
);

mutation(
  'removeSecondFactor',
  {
    gives: ['wasOn', 'Whether the user had a second factor.'],
    objects: { user: { kind: 'user', id: ({ userId }) => String(userId) } },
  },
  (t) =>
    t.boolean({
      nullable: true,
      access: { kind: null, adminsOnly: 'adminsOnly' },
      description:
        'Turns the second factor of another user off, who has lost the app and the recovery codes. Tells whether there was ' +
        'one. Only admins may.',
      args: { userId: t.arg.id({ required: true, description: 'The id of the user.' }) },
      resolve: async (_, { userId }, context) => {
        const { accountId, caller, db } = context;
        const where = { id: userId, accountId, kind: 'USER' } as const;
        const user = requireFound(await db.owner.findFirst({ where, select: { id: true, subject: true } }), 'user');
        if (user.id === caller.ownerId) throw new ApiError('ownSecondFactor');
        return turnOff(context, user, 'admin');
      },
    }),
);

interface NamedUser {
  id: string;
  subject: string;
}

/**
 * Does something in a transaction for the caller, who proves to be the user by the password and a code.
 * @throws {ApiError} when one of them is wrong, or there is no second factor.
 */
async function proved<T>(
  context: Context,
  { password, code, at }: { password: string; code: string; at: string },
  work: (within: Context, user: NamedUser, by: SecondFactorKind) => Promise<T>,
): Promise<T> {
  const { user } = await checkAll({
    user: () => checkOwnPassword(context, password, { member: 'password', at }),
    code: () => checkCodeGiven(context, context.caller.ownerId, code),
  });
  const by = await passSecondFactor(context, user, { code, after: 'password', at });
  if (!by) throw new ApiError('noSecondFactor');
  return context.inTransaction(async (within) => {
    if (!(await maySignIn(within, user.id, user.hash))) throw new ApiError('wrongPassword', { member: 'password' });
    return work(within, user, by);
  });
}

/** @param by what was proved. @returns whether there was a second factor. */
function turnOff(context: Context, user: NamedUser, by: SecondFactorKind | 'admin'): Promise<boolean> {
  return context.act(async (db, announce) => {
    const wasOn = await removeSecondFactor(db, user.id);
    if (wasOn) announce({ kind: 'user', action: 'UPDATED', id: user.id, accountId: context.accountId });
    return { result: wasOn, acts: wasOn ? [actOn(user, 'SECOND_FACTOR_OFF', { by })] : [] };
  });
}

function translate(error: unknown): never {
  throw error instanceof NoSecondFactorBegun ? new ApiError('noSecondFactor') : error;
}

function actOn({ id, subject }: NamedUser, action: RecordedAct['action'], after?: object): RecordedAct {
  return { action, kind: 'user', objectId: id, objectName: subject, after };
}

export const routes: Route[] = [];
