// Rows that fields lead to are loaded together, with what the document asks of them: one statement for all rows that have the field.

import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import type { ObjectRow } from '../builder/builder.ts';
import type { Context } from '../context.ts';
import { batchLoad } from './batch-load.ts';
import { findByIds, type Resource, resourceOf } from './nodes.ts';

/** As Prisma takes it: columns, and relations with what of them. */
interface Selected {
  select?: Record<string, unknown>;
  include?: Record<string, unknown>;
}

/** What is read of the objects of one kind. */
export interface RowLoad {
  prefix: string;
  query: Selected;
}

/** By the prefix of the kind, for each field of a document. */
const loads = new WeakMap<Context, WeakMap<object, Map<string, RowLoad>>>();

/**
 * What a document asks of the objects that a field leads to: the same for every row that has the field.
 * @param paths where below the field they are; it is they itself, when left out.
 */
export function rowLoadOf(
  { prefix, typeName, table }: Resource,
  context: Context,
  info: GraphQLResolveInfo,
  paths?: [string, ...string[]][],
): RowLoad {
  const ofContext = loads.get(context) ?? new WeakMap<object, Map<string, RowLoad>>();
  loads.set(context, ofContext);
  const { fieldNodes } = info; // Executors have one list for all rows.
  const ofField = ofContext.get(fieldNodes) ?? new Map<string, RowLoad>();
  ofContext.set(fieldNodes, ofField);
  const known = ofField.get(prefix);
  if (known) return known;
  const query: Selected = table ? queryFromInfo({ context, info, typeName, ...(paths && { paths }) }) : {};
  const load = { prefix, query };
  // Of relations the Prisma plugin notes for each row's path that they are loaded.
  const parts = Object.values({ ...query.select, ...query.include });
  if (parts.every((part) => typeof part === 'boolean')) ofField.set(prefix, load);
  return load;
}

/** The object of the caller's account with this id; undefined when there is none. Calls that load the same share one statement. */
export const loadRow = batchLoad<ObjectRow, RowLoad>(async (context, ids, { query }) => {
  const resource = resourceOf(ids[0] as string) as Resource; // A batch is of one kind, and never empty.
  const rows = await findByIds(resource, context, ids, query);
  return new Map(rows.map((row) => [row.id, row]));
});
