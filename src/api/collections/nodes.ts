// What has an id: found by it alone, whatever its kind; one at a time, or many at once.

import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import type { Db } from '../../store/database/client.ts';
import { modelOf, readRow } from '../../store/database/rows-by-id.ts';
import { isId } from '../../store/ids.ts';
import { builder, type ObjectRow, type ObjectRowRef } from '../builder/builder.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import type { AuditedResource, SearchColumns } from '../resource.ts';
import type { IdPrefix } from './cursor.ts';

const IDS_MAX = 100;

/** What a table must offer; Prisma's delegates do. */
export interface PrismaTable {
  findUnique(query: object): Promise<unknown>;
  findMany(query: object): Promise<unknown[]>;
  count(query: object): Promise<number>;
  create(query: object): Promise<unknown>;
  update(query: object): Promise<unknown>;
  delete(query: object): Promise<unknown>;
}

/** A kind of object: how one is found by its id, and what else the API derives from its kind. */
export interface Resource extends Partial<AuditedResource> {
  kind: string;
  /** What its ids begin with; '' of what stands for several kinds. */
  prefix: string;
  /** The REST path of the list that it is in, as `/credentials`; left out where that depends on the object. */
  path?: string;
  typeName: string;
  /** Its type. */
  ref: ObjectRowRef;
  table?: (db: Db) => unknown;
  /**
   * The kinds of object that it stands for, when it is what several have in common: its ids are theirs, its type an interface, and its
   * table a view of theirs, by which they are found and from which they are not shown.
   */
  kinds?: readonly Resource[];
  /**
   * Finds together what is in no table, or what else than the account decides who may see it.
   * @param query what Prisma is to load; empty where there is no table.
   * @returns those that the caller may see.
   */
  find?(context: Context, ids: readonly string[], query: object): Promise<readonly ObjectRow[]>;
  /** Narrows every look-up further than to the account. */
  where?: (context: Context) => object | Promise<object>;
  /** Where the search finds it; nowhere when left out. */
  search?: SearchColumns;
}

const registry = new Map<string, Resource>();

/** Registers a kind of object: `node(id)` and `nodes(ids)` find it, and what it declares takes effect. @throws {Error} for a prefix that is taken. */
export function registerResource(options: Resource): void {
  if (registry.has(options.prefix)) throw new Error(`two kinds of object have ids that begin with ${options.prefix}_`);
  registry.set(options.prefix, options);
}

/** Any object with an id; `node(id)` finds it. */
export const Node = builder.interfaceRef<ObjectRow>('Node').implement({
  description: 'Any object with an id.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id: a prefix that tells the kind, `_`, and 27 letters and digits.' }),
  }),
  resolveType: ({ id }) => resourceOf(id)?.typeName,
});

/** Every kind of object that has an id. Complete once the schema is loaded. */
export function registeredResources(): Resource[] {
  return [...registry.values()];
}

/** Those whose writes are audited. */
export function auditedResources(): AuditedResource[] {
  return registeredResources().filter((resource): resource is Resource & AuditedResource => !!resource.audit);
}

/** The kind of object that has this id; undefined for what is no id. */
export function resourceOf(id: string): Resource | undefined {
  const options = registry.get(id.slice(0, id.indexOf('_')));
  return options && isId(options.prefix, id) ? options : undefined;
}

/** What the ids of a resource begin with: one text, or one of several. */
export function prefixOf({ prefix, kinds }: Resource): IdPrefix {
  return kinds?.map((kind) => kind.prefix) ?? prefix;
}

/** What a field shows of the object with this id, which is of the resource or of one of its kinds; null as `findById`. */
export async function findShown(
  options: Resource,
  context: Context,
  id: string,
  info: GraphQLResolveInfo,
): Promise<ObjectRow | null> {
  const { kinds = [options] } = options;
  const kind = kinds.find(({ prefix }) => isId(prefix, id));
  return kind ? findById(kind, context, id, queryOf(kind, context, info)) : null;
}

/** One object of the caller's account, or null: unknown, malformed and foreign ids are all the same. */
export async function findById(
  options: Resource,
  context: Context,
  id: string,
  query: object,
): Promise<ObjectRow | null> {
  if (!isId(options.prefix, id)) return null;
  if (options.find) return (await options.find(context, [id], query))[0] ?? null;
  const { db, accountId } = context;
  const table = tableOf(options, db);
  const { select, include } = query as { select?: Record<string, unknown>; include?: object };
  if (!options.where && !include && isOfColumns(select))
    return (await readRow(db, modelOf(table), { id, accountId }, select)) ?? null;
  const where = { ...(await scopeOf(options, context)), id };
  return table.findUnique({ ...query, where }) as Promise<ObjectRow | null>;
}

/** Whether no relations are selected. */
function isOfColumns(select: Record<string, unknown> | undefined): select is Record<string, boolean> | undefined {
  return !select || Object.values(select).every((wanted) => typeof wanted === 'boolean');
}

/** Those of the caller's account that have these ids, which are of this kind. */
export async function findByIds(
  options: Resource,
  context: Context,
  ids: readonly string[],
  query: object,
): Promise<readonly ObjectRow[]> {
  if (options.find) return options.find(context, ids, query);
  const where = { ...(await scopeOf(options, context)), id: { in: ids } };
  return (await tableOf(options, context.db).findMany({ ...query, where })) as ObjectRow[];
}

/** The part of a query that leaves only what the caller may see. */
export async function scopeOf({ where }: Resource, context: Context): Promise<object> {
  return { accountId: context.accountId, ...(await where?.(context)) };
}

export function tableOf({ kind, table }: Resource, db: Db): PrismaTable {
  if (!table) throw new Error(`objects of the kind "${kind}" are in no table`);
  return table(db) as PrismaTable; // Every delegate of Prisma's is one; its own types differ from model to model.
}

const rowsAtHand = new WeakMap<Context, ObjectRow>();

/** Has `node` give this row in this context, and read no other: it is the object as the transaction has left it. */
export function giveRow(context: Context, row: ObjectRow): void {
  rowsAtHand.set(context, row);
}

/** What Prisma is to load of the objects that a field gives; nothing of those that are in no table. */
function queryOf({ typeName, table }: Resource, context: Context, info: GraphQLResolveInfo): object {
  return table ? queryFromInfo({ context, info, typeName }) : {};
}

builder.queryField('node', (t) =>
  t.field({
    type: Node,
    nullable: true,
    access: { kind: null },
    description: 'Any object of your account by its id; null when there is none.',
    args: { id: t.arg.id({ required: true, description: 'The id of any kind of object.' }) },
    resolve: async (_, { id }, context, info) => {
      const atHand = rowsAtHand.get(context);
      if (atHand) return atHand;
      const options = resourceOf(id);
      return options ? findById(options, context, id, queryOf(options, context, info)) : null;
    },
  }),
);

builder.queryField('nodes', (t) =>
  t.field({
    type: [Node],
    nullable: { list: true, items: true },
    access: { kind: null },
    description: 'Objects of your account by their ids, in the order asked for; null for each that there is not.',
    args: {
      ids: t.arg.idList({ required: true, description: 'The ids of any kinds of object; at most 100.' }),
    },
    resolve: async (_, { ids }, context, info) => {
      if (ids.length > IDS_MAX) throw new ApiError('tooManyIds', { member: 'ids', max: IDS_MAX });
      const idsByKind = new Map<Resource, string[]>();
      for (const id of new Set(ids)) {
        const options = resourceOf(id);
        if (options) idsByKind.set(options, [...(idsByKind.get(options) ?? []), id]);
      }
      const found = new Map<string, ObjectRow>();
      for (const [options, ofKind] of idsByKind) {
        const query = queryOf(options, context, info);
        for (const row of await findByIds(options, context, ofKind, query)) found.set(row.id, row);
      }
      return ids.map((id) => found.get(id) ?? null);
    },
  }),
);
