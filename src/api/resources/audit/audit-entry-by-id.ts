// Entries of the audit trail by their ids. In GraphQL only.

import { AUDIT_PREFIX } from '../../../store/audit/audit-entries.ts';
import { builder } from '../../builder/builder.ts';
import { registerResource } from '../../collections/nodes.ts';
import { requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { AuditEntry } from './audit-entry.ts';
import { columnsFor, findEntries } from './read-entries.ts';

registerResource({
  kind: 'auditEntry',
  prefix: AUDIT_PREFIX,
  typeName: 'AuditEntry',
  ref: AuditEntry,
  table: (db) => db.auditEntry,
  find: findEntries,
});

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
      const [entry] = await findEntries(context, [id], columnsFor(context, info));
      return requireFound(entry, 'entry of the audit trail');
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
