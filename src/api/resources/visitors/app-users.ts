// Visitors who have signed in at endpoints: listed, and deleted with all their sessions.

import { endAppSessions } from '../../../store/visitors/app-session-rows.ts';
import { APP_USER_KIND, APP_USER_PREFIX } from '../../../store/visitors/app-users.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { ID_MEMBER, text, time } from '../../collections/members.ts';
import { named, related } from '../../collections/related.ts';
import { route } from '../../route.ts';

const IdentityProvider = builder.objectRef<{ issuer: string }>('IdentityProvider').implement({
  description: 'A service at which visitors sign in.',
  fields: (t) => ({
    name: t.string({
      description: 'What to call it: the host of its URL, as in `accounts.google.com`.',
      resolve: ({ issuer }) => (URL.canParse(issuer) && new URL(issuer).host) || issuer,
    }),
    url: t.exposeString('issuer', { description: 'Its URL: the issuer, by OpenID Connect.' }),
  }),
});

const AppUser = builder.prismaObject('AppUser', {
  description:
    'A visitor who has signed in at an endpoint of your account, by the policy actions `openid-connect` or `oauth`. The ' +
    'same person at two providers is two of them.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: `Its id: \`${APP_USER_PREFIX}_…\`.` }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/app/users/${id}`),
    }),
    identityProvider: t.field({
      type: IdentityProvider,
      description: 'Where the visitor signed in.',
      select: { issuer: true },
      resolve: ({ issuer }) => ({ issuer }),
    }),
    providerUserId: t.exposeString('subject', {
      description: 'The id of the user at the provider, who gives it to nobody else.',
    }),
    name: t.exposeString('name', { description: 'The name, as the provider says; "" when it does not.' }),
    email: t.exposeString('email', {
      description: 'The e-mail address; "" unless the provider says that it has verified it.',
    }),
    username: t.string({
      description: 'What to call the visitor: the e-mail address, or the name, or the id at the provider.',
      select: { email: true, name: true, subject: true },
      resolve: ({ email, name, subject }) => email || name || subject,
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When the visitor first signed in.' }),
    lastActive: t.expose('lastActiveAt', {
      type: 'Timestamp',
      description: 'When a session of the visitor was last used, to about a minute.',
    }),
    sessions: related(t, {
      ...{ kind: 'appSession', on: named('user_id'), member: 'application_user.id' },
      description: 'The sessions of the visitor, each in one browser.',
    }),
    lastLogin: t.expose('lastLoginAt', { type: 'Timestamp', description: 'When the visitor last signed in.' }),
  }),
});

const appUsers = collection({
  kind: APP_USER_KIND,
  prefix: APP_USER_PREFIX,
  path: '/app/users',
  single: 'appUser',
  plural: 'appUsers',
  typeName: 'AppUser',
  ref: AppUser,
  // By age lists are ordered by their ids. An index on what each request changes would cost more than it is worth.
  members: {
    ...ID_MEMBER,
    'identity_provider.url': text('issuer'),
    provider_user_id: text('subject'),
    name: text('name'),
    email: text('email'),
    created_at: time('createdAt', { isOrdered: false }),
    last_active: time('lastActiveAt', { isOrdered: false }),
    last_login: time('lastLoginAt', { isOrdered: false }),
  },
  table: (db) => db.appUser,
  audit: { name: 'app_user', subject: 'A visitor who had signed in', actions: ['deleted'] },
  search: {
    ...{ rank: 167, table: 'app_user', detail: 't.issuer' },
    title: `coalesce(nullif(t.email, ''), nullif(t.name, ''), t.subject)`,
    texts: ['t.email', 't.name', 't.subject', 't.issuer'],
  },
});

deleteMutation(appUsers, 'deleteAppUser', {
  description:
    'Forgets a visitor who had signed in, and ends all sessions of that visitor, with the WebSockets and streams that are ' +
    'open in them. Answers with the id. Whoever signs in again is another visitor from then on: to keep somebody out, ' +
    'write a rule.',
  async before(db, userId, announce, accountId) {
    // Whoever is signing in waits, or has a session that is seen here: none goes without being told of.
    await db.$queryRaw`SELECT id FROM app_user WHERE id = ${userId} AND account_id = ${accountId} FOR UPDATE`;
    await endAppSessions(db, announce, { userId, accountId });
  },
});

const selection = 'id uri identityProvider { name url } providerUserId name email createdAt lastActive lastLogin';

export const routes = [
  ...readRoutes(appUsers, 'application_users', selection, { selection: `${selection} username` }),
  route('DELETE', '/app/users/:id', 204, 'deleteAppUser'),
];
