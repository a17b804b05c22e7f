// Signing in to the dashboard: by password, or by a link that sets one. In GraphQL only.

import { createSignInLink, findLinkOwner } from '../../../store/sign-in/links.ts';
import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import type { Route } from '../../route.ts';
import { checkCodeGiven, checkStillPassed, passSecondFactor } from '../../sign-in/second-factor-steps.ts';
import {
  beginSession,
  checkMayHavePassword,
  checkOwnPassword,
  checkSignInAddress,
  completeSignIn,
  findUserByPassword,
  maySignIn,
  setPassword,
  withNewPageSecret,
} from '../../sign-in/sign-in-steps.ts';
import { Viewer } from './viewer.ts';

const PASSWORD_LENGTH_MIN = 12;
const PASSWORD_LENGTH_MAX = 1024;
/** A shorter name would be found in too many words. */
const EMAIL_NAME_MIN = 3;

const newPassword = '12 to 1024 characters, not one character over and over, without the name in the e-mail address.';
const secondFactorCode = 'A code of the app, or a recovery code: needed when the user has a second factor.';

const SignInInput = builder.inputType('SignInInput', {
  description: 'Who wants to sign in.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The e-mail address of the user.' }),
    password: t.string({ required: true, description: 'The password of the user.' }),
    code: t.string({ description: secondFactorCode }),
  }),
});

const RedeemSignInLinkInput = builder.inputType('RedeemSignInLinkInput', {
  description: 'A link, and the password that it sets.',
  fields: (t) => ({
    token: t.string({ required: true, description: 'What stands behind the `#` of the link.' }),
    password: t.string({ required: true, description: `The password to have from now on: ${newPassword}` }),
    code: t.string({ description: secondFactorCode }),
  }),
});

const ChangePasswordInput = builder.inputType('ChangePasswordInput', {
  description: 'The password until now, and the one to have from now on.',
  fields: (t) => ({
    current: t.string({ required: true, description: 'Your password until now.' }),
    password: t.string({ required: true, description: `Your password from now on: ${newPassword}` }),
  }),
});

interface Link {
  url: string;
  expiresAt: Date;
}

const SignInLink = builder.objectRef<Link>('SignInLink').implement({
  description: 'A link by which a user sets a password and signs in, once.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The link itself. Nobody can read it afterwards.' }),
    expiresAt: t.expose('expiresAt', { type: 'Timestamp', description: 'Until when it works.' }),
  }),
});

const SignInLinkUser = builder.objectRef<{ email: string }>('SignInLinkUser').implement({
  description: 'Whom a sign-in link is for.',
  fields: (t) => ({
    email: t.exposeString('email', { description: 'The e-mail address with which the user signs in from then on.' }),
  }),
});

const forPages =
  'Only for the dashboard’s own pages, which send `Gateway-Dashboard`, over TLS or on loopback. After five failures ' +
  'from an address each further attempt from there waits longer.';

mutation('signIn', { gives: ['viewer', 'Who is signed in now.'] }, (t) =>
  t.field({
    type: Viewer,
    nullable: true,
    access: 'anyone',
    description: `Signs a user in with a password: begins a browser session, whose cookie comes with the answer. ${forPages}`,
    args: { input: t.arg({ type: SignInInput, required: true, description: 'Who wants to sign in.' }) },
    resolve: async (_, { input: { email: given, password, code } }, context) => {
      const { app, client } = context;
      client.checkMaySignIn();
      const email = given.trim().toLowerCase();
      checkMayHavePassword(context, email);
      const user = await app.signIn.attempts.run(email, client.ip, () => findUserByPassword(context, email, password));
      if (!user) throw new ApiError('signInFailed');
      await checkSignInAddress(context, user, 'password');
      const factor = await passSecondFactor(context, user, { code, after: 'password', at: 'sign-in' });
      const session = await context.inTransaction(async (within) => {
        if (!(await maySignIn(within, user.id, user.hash))) throw new ApiError('signInFailed');
        await checkStillPassed(within, user.id, factor);
        return beginSession(within, user, 'password', factor);
      });
      return completeSignIn(context, user, session, 'password');
    },
  }),
);

builder.queryField('signInLinkUser', (t) =>
  t.field({
    type: SignInLinkUser,
    nullable: true,
    access: 'anyone',
    description: `Whom a sign-in link is for; null when it is unknown, used or expired. ${forPages}`,
    args: { token: t.arg.string({ required: true, description: 'What stands behind the `#` of the link.' }) },
    resolve: async (_, { token }, { app, client, db }) => {
      client.checkMaySignIn();
      const user = await app.signIn.attempts.run(null, client.ip, () => findLinkOwner(db, app.keys, token, app.now()));
      return user && { email: user.subject };
    },
  }),
);

mutation('redeemSignInLink', { gives: ['viewer', 'Who is signed in now.'] }, (t) =>
  t.field({
    type: Viewer,
    nullable: true,
    access: 'anyone',
    description: `Sets the password of the user whom a link is for, ends the user’s other browser sessions, and begins one. ${forPages}`,
    args: { input: t.arg({ type: RedeemSignInLinkInput, required: true, description: 'The link and the password.' }) },
    resolve: async (_, { input: { token, password, code } }, context) => {
      const { app, client, db } = context;
      client.checkMaySignIn();
      const user = await app.signIn.attempts.run(null, client.ip, () => findLinkOwner(db, app.keys, token, app.now()));
      if (!user) client.recordSignIn({ outcome: 'failed', by: 'link', userId: undefined });
      if (!user) throw new ApiError('linkOver');
      checkMayHavePassword(context, user.subject);
      await checkAll({
        password: () => checkPassword(password, user.subject),
        code: () => checkCodeGiven(context, user.id, code),
      });
      await checkSignInAddress(context, user, 'link');
      const factor = await passSecondFactor(context, user, { code, after: 'link', at: 'sign-in link' });
      const hash = await app.signIn.hashPassword(password);
      const session = await context.inTransaction(async (within) => {
        if (!(await maySignIn(within, user.id))) throw new ApiError('linkOver');
        // Of two who redeem it at once, one finds it gone.
        const { count } = await within.db.signInLink.deleteMany({ where: { digest: user.digest } });
        if (count === 0) throw new ApiError('linkOver');
        await checkStillPassed(within, user.id, factor);
        await setPassword(within, user, hash, 'link');
        return beginSession(within, user, 'link', factor);
      });
      return completeSignIn(context, user, session, 'link');
    },
  }),
);

mutation('changePassword', { gives: ['viewer', 'Who is signed in now.'] }, (t) =>
  t.field({
    type: Viewer,
    nullable: true,
    access: { kind: null },
    description:
      'Changes your own password, and ends all your other browser sessions. The one that asks gets another `pageSecret`.',
    args: { input: t.arg({ type: ChangePasswordInput, required: true, description: 'Both passwords.' }) },
    resolve: async (_, { input: { current, password } }, context) => {
      const { user } = await checkAll({
        user: () => checkOwnPassword(context, current, { member: 'current', at: 'change of the password' }),
        password: () => checkPassword(password, context.caller.subject),
      });
      const hash = await context.app.signIn.hashPassword(password);
      return context.inTransaction(async (within) => {
        if (!(await maySignIn(within, user.id, user.hash))) throw new ApiError('wrongPassword', { member: 'current' });
        await setPassword(within, user, hash, 'password');
        return withNewPageSecret(within);
      });
    },
  }),
);

mutation('createSignInLink', { gives: ['signInLink', 'The link. Nobody can read it afterwards.'] }, (t) =>
  t.field({
    type: SignInLink,
    nullable: true,
    access: { kind: null, adminsOnly: 'adminsOnly' },
    description:
      'Makes a link by which a user sets a password and signs in. It works once, for 15 minutes; those made before for ' +
      'the same user work no longer. Only admins may.',
    args: { userId: t.arg.id({ required: true, description: 'The id of the user; a bot user cannot sign in.' }) },
    resolve: async (_, { userId }, context) => {
      const { accountId, app } = context;
      const where = { id: userId, accountId, kind: 'USER' } as const;
      const user = requireFound(
        await context.db.owner.findFirst({ where, select: { id: true, active: true, subject: true } }),
        'user',
      );
      if (!user.active) throw new ApiError('userNotActive');
      checkMayHavePassword(context, user.subject);
      const { token, expiresAt } = await context.act(async (db) => ({
        result: await createSignInLink(db, app.keys, user.id, app.now()),
        acts: [{ action: 'SIGN_IN_LINK_CREATED', kind: 'user', objectId: user.id, objectName: user.subject }],
      }));
      return { url: context.uri(`/dashboard/sign-in#${token}`), expiresAt };
    },
  }),
);

/**
 * Length is what makes a password good; beyond that only what is guessed first is refused.
 * @throws {ApiError} which never shows any of it.
 */
function checkPassword(password: string, email: string): void {
  const member = 'password';
  const characters = [...password];
  if (characters.length < PASSWORD_LENGTH_MIN || characters.length > PASSWORD_LENGTH_MAX)
    throw new ApiError('passwordLength', { member, min: PASSWORD_LENGTH_MIN, max: PASSWORD_LENGTH_MAX });
  if (new Set(characters).size === 1) throw new ApiError('passwordRepeats', { member });
  const name = email.slice(0, email.lastIndexOf('@')).toLowerCase();
  if (name.length >= EMAIL_NAME_MIN && password.toLowerCase().includes(name))
    throw new ApiError('passwordHasName', { member });
}

export const routes: Route[] = [];
