// The audit trail, to be read. In GraphQL only.

import { AUDIT_PREFIX } from '../../../store/audit/audit-entries.ts';
import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { lowestIdAt } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import type { Route } from '../../route.ts';
import { AuditActionType, AuditEntryConnection } from './audit-entry.ts';
import { ownEntries, readEntries } from './read-entries.ts';

/** Words beyond these are not looked for. */
const WORDS_MAX = 8;

builder.queryField('auditEntries', (t) =>
  t.field({
    type: AuditEntryConnection,
    nullable: true,
    access: { kind: null },
    description:
      'Who did what in your account, the newest first. Admins see all, others what they did themselves; ' +
      '`objectHistory` has what was done to one object.',
    args: {
      first: t.arg.int({ description: 'How many to give, 1 to 100; 100 when left out.' }),
      after: t.arg.string({ description: 'Give those older than this id.' }),
      last: t.arg.int({ description: 'How many to give when paging backwards, 1 to 100.' }),
      before: t.arg.string({ description: 'Give those newer than this id, the nearest of them.' }),
      actorId: t.arg.id({ description: 'Only what this user or bot user did.' }),
      objectId: t.arg.id({ description: 'Only what was done to this object.' }),
      kind: t.arg.string({ description: 'Only what was done to objects of this kind: `credential`.' }),
      action: t.arg({ type: AuditActionType, description: 'Only this.' }),
      from: t.arg({ type: 'Timestamp', description: 'Only what was done at this time or later.' }),
      to: t.arg({ type: 'Timestamp', description: 'Only what was done before this time.' }),
      text: t.arg.string({
        description:
          'Only what has all these words, at most 8, in the name or id of the actor or the object, in the address or in ' +
          'the id of the key. Upper and lower case are the same.',
      }),
    },
    resolve: (_, { actorId, objectId, kind, action, from, to, text, ...page }, context, info) => {
      const words = (text ?? '').toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);
      const chosen: Prisma.AuditEntryWhereInput = {
        ...{ actorId: actorId ?? undefined, objectId: objectId ?? undefined },
        ...{ kind: kind ?? undefined, action: action ?? undefined },
        // An id sorts by its time, so that one index serves both order and time.
        id: {
          gte: from ? lowestIdAt(AUDIT_PREFIX, from.getTime()) : undefined,
          lt: to ? lowestIdAt(AUDIT_PREFIX, to.getTime()) : undefined,
        },
        AND: words.map((word) => ({ words: { contains: word.replace(/[\\%_]/g, '\\$&') } })),
      };
      return readEntries(context, page, { AND: [ownEntries(context), chosen] }, info, words.length > 0);
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
