// Rows with all their columns, as Prisma gives them: read and locked in one statement, which Prisma has no way to say.

import { isDeepStrictEqual } from 'node:util';
import { getDatamodel } from '../generated/pothos.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Db } from './client.ts';

type ModelName = Prisma.ModelName;
export type WholeRow = Record<string, unknown> & { id: string };

interface Model {
  columns: readonly string[];
  lock: string;
}

const models = new Map<ModelName, Model>();

/** The model that a delegate of Prisma's is for. @throws {Error} for what is no delegate. */
export function modelOf(table: unknown): ModelName {
  const name = (table as { fields?: { id?: { modelName?: ModelName } } }).fields?.id?.modelName;
  if (name === undefined) throw new Error('what is read is no model of Prisma’s');
  return name;
}

/** Whether a row has all columns of its model. */
export function isWhole(model: ModelName, row: object): row is WholeRow {
  return describe(model).columns.every((name) => (row as Record<string, unknown>)[name] !== undefined);
}

/** Whether two rows of a model have the same in all columns. */
export function isSameRow(model: ModelName, one: WholeRow, other: WholeRow): boolean {
  return describe(model).columns.every((name) => isDeepStrictEqual(one[name], other[name]));
}

/** What Prisma selects a row with all its columns by. */
export function allColumns(model: ModelName): Record<string, true> {
  return Object.fromEntries(describe(model).columns.map((name) => [name, true]));
}

/**
 * Locks the row of an object until the end of the transaction, so that what it is now is what the transaction changes.
 * @returns it; undefined when the account has none with this id.
 */
export async function lockRow(
  db: Db,
  model: ModelName,
  { id, accountId }: { id: string; accountId: string },
): Promise<WholeRow | undefined> {
  const [row] = await db.$queryRawUnsafe<WholeRow[]>(describe(model).lock, id, accountId);
  return row;
}

function describe(model: ModelName): Model {
  const known = models.get(model);
  if (known) return known;
  const fields = getDatamodel().datamodel.models[model]?.fields ?? [];
  const own = fields.filter(({ kind }) => kind !== 'object');
  const columns = own.map(({ name }) => name);
  const selected = own.map(({ name, isList }) => {
    const value = `t."${columnOf(name)}"`;
    // A list that nobody has set is NULL in the database, and empty for Prisma.
    return `${isList ? `coalesce(${value}, '{}')` : value} AS "${name}"`;
  });
  const from = `FROM "${columnOf(model)}" t WHERE t.id = $1 AND t.account_id = $2`;
  const lock = `SELECT ${selected} ${from} FOR NO KEY UPDATE`;
  const described = { columns, lock };
  models.set(model, described);
  return described;
}

/** The name of a column or a table in the database. A test holds all of them against the database. */
const columnOf = (name: string) => name.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase();
