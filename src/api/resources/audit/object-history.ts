// What was done to one object, also when it is gone. In GraphQL only.

import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { builder } from '../../builder/builder.ts';
import { pageArguments } from '../../collections/page.ts';
import type { Route } from '../../route.ts';
import { AuditEntryConnection } from './audit-entry.ts';
import { mayReadHistory, ownEntries, readEntries } from './read-entries.ts';

builder.queryField('objectHistory', (t) =>
  t.field({
    type: AuditEntryConnection,
    nullable: true,
    access: { kind: null },
    description:
      'What was done to an object of your account, the newest first, also when it is gone. Members see all that was done ' +
      'to what they can look up, except to users and bot users: of those, and of what is gone, what they did themselves.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of any kind of object.' }),
      ...pageArguments,
    },
    resolve: async (_, { id, ...page }, context, info) => {
      const scope = (await mayReadHistory(context, id)) ? { accountId: context.accountId } : ownEntries(context);
      return readEntries(context, page, { ...scope, objectId: id } satisfies Prisma.AuditEntryWhereInput, info);
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
