// The audit trail as it grows, for pages that show it live.

import { AUDIT_KIND } from '../../../store/audit/audit-entries.ts';
import { watch } from '../../../store/changes/changes.ts';
import { builder } from '../../builder/builder.ts';
import { whileAllowed } from '../../collections/watching.ts';
import type { Context } from '../../context.ts';
import type { Route } from '../../route.ts';
import { AuditEntry } from './audit-entry.ts';
import { columnsFor, ownEntries } from './read-entries.ts';

/** What was added: found, so that it is known whether the caller may see it. */
interface Added {
  id: string;
}

builder.subscriptionField('auditEntryAdded', (t) =>
  t.field({
    type: AuditEntry,
    access: { kind: null },
    description:
      'Tells of each new entry of the audit trail: admins of all of the account, others of what they did themselves. ' +
      'Some may be missing when very many come at once; `auditEntries` has them.',
    subscribe: (_, __, context) => whileAllowed(context, (signal) => added(context, signal)),
    resolve: ({ id }, _, context, info) =>
      context.db.auditEntry.findUniqueOrThrow({ ...columnsFor(context, info), where: { id } }),
  }),
);

async function* added(context: Context, signal: AbortSignal): AsyncGenerator<Added> {
  const { app, accountId, db } = context;
  const changes = watch(app.changes, (change) => change.kind === AUDIT_KIND && change.accountId === accountId, signal);
  for await (const { id } of changes) {
    const entry = await db.auditEntry.findFirst({ where: { ...ownEntries(context), id }, select: { id: true } });
    if (entry) yield entry;
  }
}

/** There is no REST path for it. */
export const routes: Route[] = [];
