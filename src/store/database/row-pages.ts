// A page of the rows of an account in the order of their ids, as Prisma gives it, in SQL: reading a hundred rows is most of what a list
// costs. They come as one text of JSON, which takes half as much CPU as Prisma's findMany; rows of a raw query take as much as that.

import type { Db } from './client.ts';
import { fieldsOfModel } from './datamodel.ts';
import { allColumns, type ModelName, type ObjectColumns, selectFrom } from './rows-by-id.ts';

/** Which rows, as Prisma's `findMany` is told. */
export interface RowSlice {
  accountId: string;
  where: { id?: { lt?: string; gt?: string } };
  orderBy: readonly { id: 'asc' | 'desc' }[];
  take: number;
}

/** What is read of an object that a row names: all columns, or as Prisma is told. */
type ObjectQuery = true | { select?: object; include?: object };

/** What is read of each row: columns, and objects that the row names by their id. */
export type RowSelection = Readonly<Record<string, boolean | ObjectQuery>>;

/** A relation of a model: the column that names the object, and the model of the object. */
interface Reference {
  column: string;
  model: ModelName;
}

/** The fields of a model by how a page has them. */
interface ModelFields {
  /** Columns whose values JSON has as Prisma does, times apart. */
  columns: ReadonlySet<string>;
  times: readonly string[];
  references: ReadonlyMap<string, Reference>;
}

const models = new Map<ModelName, ModelFields>();
const JSON_TYPES: ReadonlySet<string> = new Set(['String', 'Boolean', 'Int', 'Float', 'Json', 'DateTime']);

/**
 * What pages have of each row, from what Prisma is to load.
 * @returns undefined where there is more to load than columns and what they name.
 */
export function rowSelection(
  model: ModelName,
  { select, include }: { select?: object; include?: object },
): RowSelection | undefined {
  const { columns, references } = describe(model);
  const wanted: Record<string, unknown> = { ...(select ?? { ...allColumns(model), ...include }) };
  const isReadable = Object.entries(wanted).every(([name, value]) => {
    if (typeof value === 'boolean') return columns.has(name) || (value && references.has(name));
    return references.has(name) && Object.keys(value as object).every((key) => key === 'select' || key === 'include');
  });
  return isReadable ? (wanted as RowSelection) : undefined;
}

/** Reads a page, and what its rows name: each kind of object in one statement for all rows. */
export async function readRowPage(
  db: Db,
  model: ModelName,
  { accountId, where: { id: beyond }, orderBy, take }: RowSlice,
  select: RowSelection,
): Promise<ObjectColumns[]> {
  const { references, times } = describe(model);
  const columns: Record<string, unknown> = { ...select };
  const named = Object.entries(select).flatMap(([name, wanted]) => {
    const reference = wanted ? references.get(name) : undefined;
    if (!reference) return [];
    columns[reference.column] = true;
    return [{ name, wanted: wanted as ObjectQuery, ...reference }];
  });
  const order = orderBy[0]?.id === 'asc' ? 'ASC' : 'DESC';
  const position = beyond?.lt ?? beyond?.gt;
  const [behind, values] =
    position === undefined ? ['', []] : [` AND t.id ${beyond?.lt === undefined ? '>' : '<'} $3`, [position]];
  const page = `${selectFrom(model, columns)} WHERE t.account_id = $1${behind} ORDER BY t.id ${order} LIMIT $2`;
  const text = `SELECT coalesce(json_agg(page), '[]')::text AS rows FROM (${page}) AS page`;
  const [found] = await db.$queryRawUnsafe<[{ rows: string }]>(text, accountId, take, ...values);
  const rows: ObjectColumns[] = JSON.parse(found.rows);
  for (const name of times)
    if (columns[name]) for (const row of rows) if (row[name] !== null) row[name] = new Date(row[name] as string);
  await Promise.all(named.map((reference) => addObjects(db, rows, reference)));
  return rows;
}

/** Gives rows the objects that they name. */
async function addObjects(
  db: Db,
  rows: readonly ObjectColumns[],
  { name, column, model, wanted }: Reference & { name: string; wanted: ObjectQuery },
): Promise<void> {
  const ids = [...new Set(rows.map((row) => row[column]))].filter((id) => id !== null);
  const table = db[delegateOf(model)] as unknown as { findMany(query: object): Promise<{ id: unknown }[]> };
  const { select, include } = wanted === true ? {} : wanted;
  const query = {
    where: { id: { in: ids } },
    ...(select ? { select: { ...select, id: true } } : include && { include }),
  };
  const byId = new Map(ids.length > 0 ? (await table.findMany(query)).map((object) => [object.id, object]) : []);
  for (const row of rows) row[name] = byId.get(row[column]) ?? null;
}

const delegateOf = (model: ModelName) => `${model.charAt(0).toLowerCase()}${model.slice(1)}` as 'credential';

function describe(model: ModelName): ModelFields {
  const known = models.get(model);
  if (known) return known;
  const columns = new Set<string>();
  const times: string[] = [];
  const references = new Map<string, Reference>();
  for (const { kind, name, type, isList, relationFromFields } of fieldsOfModel(model)) {
    if (kind !== 'object') {
      const isTime = type === 'DateTime';
      if (kind === 'enum' || (JSON_TYPES.has(type) && !(isTime && isList))) columns.add(name);
      if (isTime && !isList) times.push(name);
      continue;
    }
    const [column, ...more] = relationFromFields ?? [];
    const hasId = fieldsOfModel(type as ModelName).some((field) => field.isId && field.name === 'id');
    if (column !== undefined && more.length === 0 && hasId) references.set(name, { column, model: type as ModelName });
  }
  const described = { columns, times, references };
  models.set(model, described);
  return described;
}
