// Where identity providers send visitors back to: what is to be registered there.

import { endSharedCallback, sharedCallbackIssuers } from '../../../store/visitors/shared-callbacks.ts';
import { CALLBACK_PATH, callbackPath } from '../../../visitor-sign-in/callback-address.ts';
import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import { requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';

const ISSUER =
  'The URL of an OpenID Connect issuer as it is configured, or the name of an OAuth provider, as in `github`.';

const SignInCallback = builder.objectRef<{ issuer: string; isShared: boolean }>('SignInCallback').implement({
  description:
    'Where an identity provider sends visitors of your account back to. It is another address for each account and issuer, so that ' +
    'no account can be given what a provider answers for another one.',
  fields: (t) => ({
    issuer: t.exposeString('issuer', { description: ISSUER }),
    url: t.string({
      description: 'The redirect URI that is to be registered at the provider, exactly as it is here.',
      resolve: ({ issuer }, _, context) => context.uri(callbackPath(context.accountId, issuer)),
    }),
    sharedUrl: t.string({
      nullable: true,
      description:
        'The address that all accounts shared before, while visitors of your account still come back by it, as they had signed in ' +
        'before the upgrade; null otherwise. The next release does not answer it: register `url` at the provider, then call ' +
        '`endSharedSignInCallback`.',
      resolve: ({ isShared }, _, context) => (isShared ? context.uri(CALLBACK_PATH) : null),
    }),
  }),
});

builder.queryField('signInCallback', (t) =>
  t.field({
    type: SignInCallback,
    access: { kind: null },
    description:
      'Where an issuer, or an OAuth provider, sends visitors of your account back to. Nobody needs to use it yet.',
    args: { issuer: t.arg.string({ required: true, description: ISSUER }) },
    resolve: async (_, { issuer }, { db, accountId }) => ({
      issuer,
      isShared: (await sharedCallbackIssuers(db, accountId)).includes(issuer),
    }),
  }),
);

builder.queryField('sharedSignInCallbacks', (t) =>
  t.field({
    type: [SignInCallback],
    access: { kind: null },
    description: 'Those of your account that have a `sharedUrl`, by issuer: there is something to register for each.',
    resolve: async (_, __, { db, accountId }) =>
      (await sharedCallbackIssuers(db, accountId)).map((issuer) => ({ issuer, isShared: true })),
  }),
);

mutation(
  'endSharedSignInCallback',
  { gives: ['signInCallback', 'Where visitors who sign in at the issuer come back to now.'] },
  (t) =>
    t.field({
      type: SignInCallback,
      nullable: true,
      access: { kind: null, adminsOnly: 'adminsOnly' },
      description:
        'Sends visitors who sign in at an issuer back to the address of your account from now on, not to the one that all accounts ' +
        'shared. Register `url` at the provider before. It cannot be undone. Fails with `NOT_FOUND` when they already are. Only ' +
        'admins may do this.',
      args: { issuer: t.arg.string({ required: true, description: ISSUER }) },
      resolve: (_, { issuer }, context) => {
        const { accountId } = context;
        return context.act(async (db) => {
          requireFound((await endSharedCallback(db, { accountId, issuer })) || null, 'shared callback address');
          const act = {
            action: 'SHARED_CALLBACK_ENDED',
            kind: 'signInCallback',
            objectId: '',
            objectName: issuer,
          } as const;
          return { result: { issuer, isShared: false }, acts: [act] };
        });
      },
    }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
