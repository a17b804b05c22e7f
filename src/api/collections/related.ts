// Lists of what belongs to an object, as fields of it: pages like those of the root lists. However many objects of an answer have
// such a field, it takes one statement to find what belongs to all of them, one to load it, and one to count it.

import type { GraphQLResolveInfo } from 'graphql';
import type PrismaTypes from '../../store/generated/pothos.ts';
import { Prisma } from '../../store/generated/prisma/client.ts';
import type { ObjectRow, SchemaTypes } from '../builder/builder.ts';
import { checkReadScope } from '../builder/root-fields.ts';
import type { Context } from '../context.ts';
import { batchLoad } from './batch-load.ts';
import { registeredCollections } from './collection.ts';
import { inputNameOf } from './filter/where.ts';
import { neededOf, ROWS_OF_PAGE } from './loaded-page.ts';
import { type Resource, registeredResources } from './nodes.ts';
import {
  type ConnectionPage,
  connectionTypeOf,
  type PageArguments,
  type PageQuery,
  pageArguments,
  readPage,
} from './page.ts';
import { loadRow, rowLoadOf } from './row-loads.ts';

export interface Relation {
  /** The kind of object that belongs to the one that has the field. */
  kind: string;
  /** In SQL, which of them do: `t` is their table, `parent.id` the id of the one that has the field. */
  on: string;
  /** The member of their root list that names the one that has the field, as REST has it: `vault.id`; left out when there is none. */
  member?: string;
  /** Their REST list where it is one of its own, of the object with this id: it needs no filter. */
  path?(parentId: string): string;
  /** Their table, where the search does not know it. */
  table?: string;
  /** Whether they are parts of the object: API keys with scopes read them with it. */
  isPart?: boolean;
  /** What they are; what is to be said of paging is added. */
  description: string;
}

/** The condition of objects that name the one that they belong to in a column. */
export const named = (column: string) => `t.${column} = parent.id`;

/** The condition of objects that another table joins with the one that has the field: by columns with the ids of both. */
export const joined = (table: string, parentColumn: string, column: string) =>
  `EXISTS (SELECT 1 FROM ${table} joined WHERE joined.${parentColumn} = parent.id AND joined.${column} = t.id)`;

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;
/** Of any model: rows have an id. */
type RowBuilder = PothosSchemaTypes.PrismaObjectFieldBuilder<Types, PrismaTypes['Vault']>;

/**
 * A field with the objects of a kind that belong to the one that has it, the newest first: a page of the kind's connection type.
 * API keys with scopes need one to read objects of that kind. What a document asks of them costs the same statements for any number
 * of objects that have the field; the count is taken when it is asked for.
 * @param t the builder of a type whose rows have ids; to be called in its `fields`, once the schema is loaded.
 * @throws {Error} for a kind or a member that there is not.
 */
export function related(t: unknown, relation: Relation) {
  const { kind, member, description } = relation;
  const resource = registeredResources().find((one) => one.kind === kind);
  if (!resource) throw new Error(`there is no kind of object "${kind}"`);
  const { table = relation.table, where = 'true' } = resource.search ?? {};
  if (!table) throw new Error(`there is no table of the kind of object "${kind}"`);
  const filter = member === undefined ? undefined : filterOf(kind, member);
  const list = { resource, relation, filter, rows: { table, where, on: relation.on } };
  return (t as RowBuilder).field({
    type: connectionTypeOf(resource.typeName),
    args: pageArguments,
    description: `${description} The newest first.${filter ? ` \`${filter.example}\` filters, searches and orders them.` : ''}`,
    resolve: ({ id }, args, context, info) => readRelated(list, id, args, context, info),
  });
}

interface RelatedList {
  resource: Resource;
  relation: Relation;
  filter: RootFilter | undefined;
  rows: RelatedRows;
}

/** How the root list is asked for what belongs to one object. */
interface RootFilter {
  /** In GraphQL, for descriptions. */
  example: string;
  /** In CEL, as REST takes it. */
  of(parentId: string): string;
}

function filterOf(kind: string, name: string): RootFilter {
  const list = registeredCollections().find((one) => one.kind === kind);
  const member = list?.members?.[name];
  if (!list || !member) throw new Error(`the list of "${kind}" has no member ${name}`);
  const isList = member.type === 'relatedTexts';
  return {
    example: `${list.plural}(where: { ${inputNameOf(name)}: { ${isList ? 'contains' : 'eq'}: "…" } })`,
    of: (parentId) => (isList ? `"${parentId}" in obj.${name}` : `obj.${name} == "${parentId}"`),
  };
}

async function readRelated(
  { resource, relation, filter, rows }: RelatedList,
  parentId: string,
  args: PageArguments,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<ConnectionPage> {
  if (!relation.isPart) checkReadScope(context, resource.kind);
  const { prefix } = resource;
  const path = relation.path?.(parentId) ?? resource.path ?? '';
  const part = filter && !relation.path ? { filter: filter.of(parentId) } : undefined;
  const needed = neededOf(info);
  const page = await readPage(
    args,
    { prefix, path, parameters: part ?? (relation.path ? {} : null) },
    async (slice) => (needed === 'count' ? [] : ((await idsOf(context, parentId, { ...rows, slice })) ?? [])),
    async () => (await countOf(context, parentId, rows)) ?? 0,
  );
  if (needed !== 'rows') return { ...page, ...(part && { part }) };
  // The ids say where the page ends: an object that is deleted meanwhile is left out, and the list goes on behind it.
  const load = rowLoadOf(resource, context, info, ROWS_OF_PAGE);
  const found = await Promise.all(page.rows.map(({ id }) => loadRow(context, id, load)));
  return { ...page, ...(part && { part }), rows: found.filter((row) => row !== undefined) };
}

/** Which rows are meant, in SQL; all texts are constants of this program. */
interface RelatedRows {
  table: string;
  where: string;
  on: string;
}

const idsOf = batchLoad<ObjectRow[], RelatedRows & { slice: PageQuery }>(
  async ({ db, accountId }, parentIds, { slice, ...rows }) => {
    const { id: { lt, gt } = {} } = slice.where;
    const beyond =
      lt === undefined
        ? gt === undefined
          ? Prisma.empty
          : Prisma.sql`AND t.id > ${gt}`
        : Prisma.sql`AND t.id < ${lt}`;
    const order = Prisma.raw(slice.orderBy[0]?.id === 'asc' ? 'ASC' : 'DESC');
    const found = await db.$queryRaw<(ObjectRow & { parentId: string })[]>`
      SELECT parent.id AS "parentId", child.id AS id FROM unnest(${[...parentIds]}::text[]) AS parent (id)
      CROSS JOIN LATERAL (
        SELECT t.id ${conditionOf(rows, accountId)} ${beyond} ORDER BY t.id ${order} LIMIT ${slice.take}
      ) child
      ORDER BY child.id ${order}`;
    const byParent = new Map<string, ObjectRow[]>();
    for (const { parentId, id } of found) {
      const ofParent = byParent.get(parentId);
      if (ofParent) ofParent.push({ id });
      else byParent.set(parentId, [{ id }]);
    }
    return byParent;
  },
);

const countOf = batchLoad<number, RelatedRows>(async ({ db, accountId }, parentIds, rows) => {
  const counts = await db.$queryRaw<{ parentId: string; count: number }[]>`
    SELECT parent.id AS "parentId", (SELECT count(*)::int ${conditionOf(rows, accountId)}) AS count
    FROM unnest(${[...parentIds]}::text[]) AS parent (id)`;
  return new Map(counts.map(({ parentId, count }) => [parentId, count]));
});

function conditionOf({ table, where, on }: RelatedRows, accountId: string): Prisma.Sql {
  const [from, what, which] = [table, on, where].map((text) => Prisma.raw(text));
  return Prisma.sql`FROM ${from} t WHERE t.account_id = ${accountId} AND ${what} AND (${which})`;
}
