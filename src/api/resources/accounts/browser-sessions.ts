// Browser sessions: the browsers in which a user is signed in to the dashboard. In GraphQL only.

import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { endBrowserSessions, whereActive } from '../../../store/sign-in/sessions.ts';
import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import { Node, registerResource } from '../../collections/nodes.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';

export const BrowserSession = builder.prismaObject('BrowserSession', {
  description:
    'A browser in which a user is signed in to the dashboard. It ends by itself 12 hours after its last use, and in any ' +
    'case after 30 days.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `bs_…`.' }),
    ip: t.exposeString('ip', { description: 'The address that the user signed in from.' }),
    userAgent: t.exposeString('userAgent', { description: 'What the browser calls itself.' }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When the user signed in.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'Timestamp', description: 'When it was last used, to the minute.' }),
    expiresAt: t.expose('expiresAt', { type: 'Timestamp', description: 'When it ends, however much it is used.' }),
    isThis: t.boolean({
      description: 'Whether it is the one that asks.',
      resolve: ({ id }, _, { client, authenticatedCaller }) =>
        id === (client.sessionId ?? authenticatedCaller?.sessionId),
    }),
  }),
});

registerResource({
  kind: 'browserSession',
  prefix: 'bs',
  typeName: 'BrowserSession',
  ref: BrowserSession,
  table: (db) => db.browserSession,
  where: (context) => ({ ...ownSessions(context), ...whereActive(context.app.now()) }),
});

/** Admins see those of all users, others their own. */
function ownSessions({ caller }: Context): { ownerId?: string } {
  return caller.isAdmin ? {} : { ownerId: caller.ownerId };
}

const userHelp = 'The id of the user; you, when left out. Only admins may name another.';

builder.queryField('browserSessions', (t) =>
  t.prismaField({
    type: [BrowserSession],
    nullable: true,
    access: { kind: null },
    description: 'The browsers in which a user is signed in now, the newest first.',
    args: { userId: t.arg.id({ description: userHelp }) },
    resolve: async (query, _, { userId }, context) => {
      const { db, app } = context;
      const where = { ownerId: await userOf(context, userId), ...whereActive(app.now()) };
      return db.browserSession.findMany({ ...query, where, orderBy: { id: 'desc' } });
    },
  }),
);

mutation('signOut', { gives: ['wasSignedIn', 'Whether there was a browser session.'] }, (t) =>
  t.boolean({
    nullable: true,
    access: 'anyone',
    description: 'Ends the browser session that asks, and takes its cookie away. Tells whether there was one.',
    resolve: async (_, __, context) => {
      const id = context.authenticatedCaller?.sessionId;
      context.client.setSession(null);
      return id !== undefined && (await endSessions(context, { id }, 'SIGNED_OUT')) > 0;
    },
  }),
);

mutation('endBrowserSession', { gives: ['endedBrowserSessionId', 'The id that the browser session had.'] }, (t) =>
  t.id({
    nullable: true,
    access: { kind: null },
    description:
      'Ends one browser session of yours, or as an admin of any user of the account, and the subscriptions that were opened ' +
      'in it. Answers with its id; fails with `NOT_FOUND` when there is none, or it has ended already.',
    args: { id: t.arg.id({ required: true, description: 'The id of the browser session: `bs_…`.' }) },
    resolve: async (_, { id }, context) => {
      const { client, caller, accountId, app } = context;
      const where = { id, accountId, ...ownSessions(context), ...whereActive(app.now()) };
      const ended = await endSessions(context, where, 'SESSIONS_ENDED');
      requireFound(ended || null, 'browser session');
      if (id === caller.sessionId) client.setSession(null);
      return id;
    },
  }),
);

mutation('signOutEverywhere', { gives: ['endedSessions', 'How many browser sessions have ended.'] }, (t) =>
  t.int({
    nullable: true,
    access: { kind: null },
    description:
      'Ends all browser sessions of a user, this one too, and the subscriptions that were opened in them. Tells how many ' +
      'there were. API keys stay as they are.',
    args: { userId: t.arg.id({ description: userHelp }) },
    resolve: async (_, { userId }, context) => {
      const { client, caller } = context;
      const ownerId = await userOf(context, userId);
      if (caller.sessionId !== undefined && ownerId === caller.ownerId) client.setSession(null);
      return endSessions(context, { ownerId }, 'SESSIONS_ENDED');
    },
  }),
);

/** Ends browser sessions of one user. @returns how many. */
function endSessions(
  context: Context,
  where: Prisma.BrowserSessionWhereInput,
  action: 'SIGNED_OUT' | 'SESSIONS_ENDED',
): Promise<number> {
  return context.act(async (db, announce) => {
    const ended = await endBrowserSessions(db, announce, where);
    const [{ ownerId } = { ownerId: '' }] = ended;
    const user = await db.owner.findUnique({ where: { id: ownerId }, select: { subject: true } });
    const after = { session_ids: ended.map(({ id }) => id) };
    const act = { action, kind: 'user', objectId: ownerId, objectName: user?.subject, after };
    return { result: ended.length, acts: ended.length > 0 ? [act] : [] };
  });
}

/** Whose sessions an operation is about. @throws {ApiError} when they are none of the caller's business. */
async function userOf({ caller, db, accountId }: Context, userId: string | null | undefined): Promise<string> {
  if (userId === null || userId === undefined || userId === caller.ownerId) return caller.ownerId;
  if (!caller.isAdmin) throw new ApiError('adminsOnly');
  const where = { id: userId, accountId, kind: 'USER' } as const;
  return requireFound(await db.owner.findFirst({ where, select: { id: true } }), 'user').id;
}

export const routes: Route[] = [];
