// The row of an object by its id, as Prisma gives it, in SQL: Prisma has no way to lock what it reads, and for the look-up that each
// call of the API does, its findUnique takes 1.8 times as much CPU, and findFirst 2.4 times.

import { isDeepStrictEqual } from 'node:util';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Db } from './client.ts';
import { fieldsOfModel } from './datamodel.ts';

export type ModelName = Prisma.ModelName;
/** All columns of a row, or those that were asked for. */
export type ObjectColumns = Record<string, unknown> & { id: string };

interface Model {
  columns: readonly string[];
  /** What of the row each is, in SQL. */
  values: ReadonlyMap<string, string>;
  from: string;
  /** Beginnings of SELECTs by the columns that they give. */
  selects: Map<string, string>;
}

/** Whose row is meant. */
interface RowKey {
  id: string;
  accountId: string;
}

const models = new Map<ModelName, Model>();

/** The model that a delegate of Prisma's is for. @throws {Error} for what is no delegate. */
export function modelOf(table: unknown): ModelName {
  const name = (table as { fields?: { id?: { modelName?: ModelName } } }).fields?.id?.modelName;
  if (name === undefined) throw new Error('what is read is no model of Prisma’s');
  return name;
}

/** Whether a row has all columns of its model. */
export function isWhole(model: ModelName, row: object): row is ObjectColumns {
  return describe(model).columns.every((name) => (row as Record<string, unknown>)[name] !== undefined);
}

/** Whether two rows of a model have the same in all columns. */
export function isSameRow(model: ModelName, one: ObjectColumns, other: ObjectColumns): boolean {
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
export function lockRow(db: Db, model: ModelName, key: RowKey): Promise<ObjectColumns | undefined> {
  return select(db, `${selectFrom(model)} ${BY_ID} FOR NO KEY UPDATE`, key);
}

/** Reads the row of an object. @param columns as Prisma selects them; all, when left out. */
export function readRow(
  db: Db,
  model: ModelName,
  key: RowKey,
  columns?: Readonly<Record<string, boolean>>,
): Promise<ObjectColumns | undefined> {
  return select(db, `${selectFrom(model, columns)} ${BY_ID}`, key);
}

async function select(db: Db, text: string, { id, accountId }: RowKey): Promise<ObjectColumns | undefined> {
  const [row] = await db.$queryRawUnsafe<ObjectColumns[]>(text, id, accountId);
  return row;
}

const BY_ID = 'WHERE t.id = $1 AND t.account_id = $2';

/**
 * A SELECT of rows, as `t`, up to its WHERE. All of it is names of the program's own.
 * @param wanted columns as Prisma selects them; all, when left out. The id is always one.
 */
export function selectFrom(model: ModelName, wanted?: Readonly<Record<string, unknown>>): string {
  const { columns, values, from, selects } = describe(model);
  const names = wanted ? columns.filter((name) => name === 'id' || wanted[name]) : columns;
  const key = names.join();
  const text = selects.get(key) ?? `SELECT ${names.map((name) => values.get(name))} ${from}`;
  selects.set(key, text);
  return text;
}

function describe(model: ModelName): Model {
  const known = models.get(model);
  if (known) return known;
  const own = fieldsOfModel(model).filter(({ kind }) => kind !== 'object');
  const values = own.map(({ name, isList }): [string, string] => {
    const value = `t."${columnOf(name)}"`;
    // A list that nobody has set is NULL in the database, and empty for Prisma.
    return [name, `${isList ? `coalesce(${value}, '{}')` : value} AS "${name}"`];
  });
  const described: Model = {
    columns: own.map(({ name }) => name),
    values: new Map(values),
    from: `FROM "${columnOf(model)}" t`,
    selects: new Map(),
  };
  models.set(model, described);
  return described;
}

/** The name of a column or a table in the database. A test holds those of each kind of object against the database. */
const columnOf = (name: string) => name.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase();
