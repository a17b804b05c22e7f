// Pages of the audit trail, and whose entries one may see.

import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import { AUDIT_PREFIX } from '../../../store/audit/audit-entries.ts';
import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { findByIds, type Resource, resourceOf } from '../../collections/nodes.ts';
import { type PageArguments, readPage } from '../../collections/page.ts';
import type { Context } from '../../context.ts';

interface EntryColumns {
  select?: Prisma.AuditEntrySelect;
}

const IN_PAGE = { typeName: 'AuditEntry', paths: [['nodes'], ['edges', 'node']] };

/** Kinds of which members see only what is their own: when others sign in is not for them. */
const ABOUT_PEOPLE: ReadonlySet<string> = new Set(['user', 'botUser']);

/** Which entries the caller may find: admins all of the account, others those of what they did themselves. */
export function ownEntries({ accountId, caller }: Context): Prisma.AuditEntryWhereInput {
  return caller.isAdmin ? { accountId } : { accountId, actorId: caller.ownerId };
}

/** Whether the caller may read all that was done to an object. */
export async function mayReadHistory(context: Context, id: string): Promise<boolean> {
  return (await readableOf(context, [id])).has(id);
}

/** Of which of these objects the caller may read all that was done to them. */
async function readableOf(context: Context, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { caller } = context;
  if (caller.isAdmin) return new Set(ids);
  const idsByKind = new Map<Resource, string[]>();
  for (const id of new Set(ids)) {
    const resource = resourceOf(id);
    if (resource && !ABOUT_PEOPLE.has(resource.kind)) idsByKind.set(resource, [...(idsByKind.get(resource) ?? []), id]);
  }
  const readable = new Set([caller.ownerId]);
  for (const [resource, ofKind] of idsByKind)
    for (const { id } of await findByIds(resource, context, ofKind, { select: { id: true } })) readable.add(id);
  return readable;
}

/** Entries with these ids, of those that the audit trail and the histories of objects show the caller. */
export async function findEntries(context: Context, ids: readonly string[], columns: EntryColumns) {
  const { db, accountId, caller } = context;
  const where = { accountId, id: { in: [...ids] } };
  const found = await db.auditEntry.findMany({ where, select: { id: true, actorId: true, objectId: true } });
  const isOwn = ({ actorId }: { actorId: string }) => caller.isAdmin || actorId === caller.ownerId;
  const others = found.filter((entry) => !isOwn(entry));
  const readable = await readableOf(
    context,
    others.map(({ objectId }) => objectId),
  );
  const shown = found.filter((entry) => isOwn(entry) || readable.has(entry.objectId)).map(({ id }) => id);
  return shown.length === 0 ? [] : db.auditEntry.findMany({ ...columns, where: { accountId, id: { in: shown } } });
}

/**
 * A page of the entries that a condition leaves.
 * @param isByWords whether they are looked for in what the index has alone, so that rows are read of those that are found only.
 */
export function readEntries(
  context: Context,
  page: PageArguments,
  scope: Prisma.AuditEntryWhereInput,
  info: GraphQLResolveInfo,
  isByWords = false,
) {
  const table = context.db.auditEntry;
  const columns = columnsFor(context, info, IN_PAGE);
  return readPage(
    page,
    { prefix: AUDIT_PREFIX, path: '/audit_entries' },
    async ({ where, ...slice }) => {
      const all = { AND: [scope, where] };
      if (!isByWords) return table.findMany({ ...columns, ...slice, where: all });
      const found = await table.findMany({ ...slice, where: all, select: { id: true } });
      return table.findMany({ ...columns, ...slice, where: { id: { in: found.map(({ id }) => id) } } });
    },
    () => table.count({ where: scope }),
  );
}

/** The columns that an operation asks for: what an entry says of an object may be large. */
export function columnsFor(context: Context, info: GraphQLResolveInfo, at: Partial<typeof IN_PAGE> = {}) {
  return queryFromInfo({ context, info, ...at }) as EntryColumns; // An entry has no relations.
}
