// Who asks, and whether one can sign in from there. In GraphQL only.

import { isSetUp } from '../../../store/sign-in/links.ts';
import { hasSecondFactor } from '../../../store/sign-in/second-factors.ts';
import { builder } from '../../builder/builder.ts';
import type { Caller, Context } from '../../context.ts';
import type { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { passkeyHostOf } from '../../sign-in/passkey-ceremonies.ts';
import { BrowserSession } from './browser-sessions.ts';
import { Owner } from './owner.ts';

export const Viewer = builder.objectRef<Caller>('Viewer').implement({
  description: 'Who is signed in, or whose API key it is.',
  fields: (t) => ({
    user: t.prismaField({
      type: Owner,
      description: 'The user who is signed in, or the holder of the API key.',
      resolve: (query, { ownerId: id, accountId }, _, { db }) =>
        db.owner.findUniqueOrThrow({ ...query, where: { id, accountId } }),
    }),
    isAdmin: t.exposeBoolean('isAdmin', { description: 'Whether everything in the account is allowed.' }),
    session: t.prismaField({
      type: BrowserSession,
      nullable: true,
      description: 'The browser session; null when an API key came.',
      resolve: (query, { sessionId: id }, _, { db }) =>
        id === undefined ? null : db.browserSession.findUnique({ ...query, where: { id } }),
    }),
    pageSecret: t.exposeString('pageSecret', {
      nullable: true,
      description:
        'In the answers to `signIn`, the other ways to sign in, and `changePassword` only: what the page keeps and sends as `Gateway-Dashboard` ' +
        'from then on. The cookie alone is not enough, as browsers send it to every port of the host.',
    }),
    hasPassword: t.boolean({
      description: 'Whether the user has set a password.',
      resolve: async ({ ownerId }, _, { db }) => (await db.password.count({ where: { ownerId } })) > 0,
    }),
    hasSecondFactor: t.boolean({
      description: 'Whether the user gives a code beside the password.',
      resolve: ({ ownerId }, _, { db }) => hasSecondFactor(db, ownerId),
    }),
    recoveryCodesLeft: t.int({
      description: 'How many recovery codes of the second factor were not used yet.',
      resolve: ({ ownerId }, _, { db }) => db.recoveryCode.count({ where: { ownerId } }),
    }),
  }),
});

interface Offer {
  refusal: ApiError | null;
}

const setUps = new WeakMap<Context, Promise<boolean>>();

/** Asked once for a request, however often a stranger's document has the field. */
function isSetUpAt(context: Context): Promise<boolean> {
  const known = setUps.get(context) ?? isSetUp(context.db);
  setUps.set(context, known);
  return known;
}

const SignInOffer = builder.objectRef<Offer>('SignInOffer').implement({
  description: 'Whether one can sign in to the dashboard.',
  fields: (t) => ({
    isOffered: t.boolean({
      description: 'False over plain HTTP from elsewhere than the gateway’s own machine, where others can listen.',
      resolve: ({ refusal }) => refusal === null,
    }),
    reason: t.string({
      nullable: true,
      description: 'Why it is not offered, and what would change that; null when it is.',
      resolve: ({ refusal }) => refusal?.message ?? null,
    }),
    singleSignOn: t.string({
      nullable: true,
      description: 'What the provider for single sign-on is called; null when there is none.',
      resolve: (_, __, { app }) => app.signIn.singleSignOn?.settings.name ?? null,
    }),
    isPasswordForAll: t.boolean({
      description: 'Whether every user may sign in with a password, and not one alone.',
      resolve: (_, __, { app }) => app.signIn.singleSignOn?.settings.passwordUser === undefined,
    }),
    passkeyHost: t.string({
      nullable: true,
      description:
        'The host name that passkeys of the dashboard are for; null where there can be none: at an IP address, and without TLS ' +
        'elsewhere than at `localhost`.',
      resolve: (_, __, { baseUrl }) => passkeyHostOf(baseUrl),
    }),
    isSetUp: t.boolean({
      description:
        'Whether an admin has a password. Until then, each start of the gateway prints a link by which one can set it.',
      resolve: (_, __, context) => isSetUpAt(context),
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    nullable: true,
    access: 'anyone',
    description: 'Who asks; null when nobody is signed in and no API key came. Fails for a key that is not accepted.',
    resolve: (_, __, context) => (context.hasRefusedKey ? context.caller : context.authenticatedCaller),
  }),
);

builder.queryField('signInOffer', (t) =>
  t.field({
    type: SignInOffer,
    nullable: true,
    access: 'anyone',
    description: 'Whether one can sign in to the dashboard from where one asks. It needs no API key.',
    resolve: (_, __, { client }) => ({ refusal: client.signInRefusal }),
  }),
);

export const routes: Route[] = [];
