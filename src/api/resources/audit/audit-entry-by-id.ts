// One entry of the audit trail. In GraphQL only.

import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { AuditEntry } from './audit-entry.ts';
import { columnsFor, mayReadHistory } from './read-entries.ts';

builder.queryField('auditEntry', (t) =>
  t.field({
    type: AuditEntry,
    nullable: true,
    access: { kind: null },
    description:
      'The entry of the audit trail with this id. Fails with `NOT_FOUND` when there is none among those that `auditEntries` ' +
      'and `objectHistory` show you.',
    args: { id: t.arg.id({ required: true, description: 'The id of the entry: `au_…`.' }) },
    resolve: async (_, { id }, context, info) => {
      const { db, accountId, caller } = context;
      const where = { id, accountId };
      const found = await db.auditEntry.findFirst({ where, select: { actorId: true, objectId: true } });
      const isOwn = found?.actorId === caller.ownerId;
      if (!found || !(isOwn || (await mayReadHistory(context, found.objectId))))
        throw new ApiError('notFound', { kind: 'entry of the audit trail' });
      return db.auditEntry.findUniqueOrThrow({ ...columnsFor(context, info), where });
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
