// The page that every list answers with; the newest comes first unless asked otherwise.

import { builder, type ObjectRow, type ObjectRowRef, type SchemaTypes } from '../builder/builder.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import { checkAll } from '../errors/problems.ts';
import { cursorOf, type IdPrefix, type ReadCursor, readCursor } from './cursor.ts';
import { type ListOrder, NEWEST_FIRST, type Position, reversed, segmentsAfter } from './order.ts';
import type { ListSelection } from './selection.ts';

export const PAGE_SIZE_MAX = 100;

export interface PageArguments {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
}

export interface ConnectionPage {
  rows: ObjectRow[];
  /** Every row has its column, unless the page has cursors. */
  order: ListOrder;
  /** Those of the rows, where these were loaded for themselves. */
  cursors?: readonly string[];
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  path: string;
  /** Of a list that is a part of the one at the path: what REST's list is narrowed by, as the URI of this list has it. */
  part?: Record<string, string>;
  /** The rows asked for, and what else chose them, for the address of the next page. */
  limit: number;
  parameters: Record<string, string> | null;
  count(): Promise<number>;
}

/** The arguments of a list that has one order, and is neither filtered nor searched. */
export const pageArguments = builder.args((t) => ({
  first: t.int({ description: 'How many to give, 0 to 100; 100 when left out.' }),
  after: t.string({ description: 'Give those after this cursor or id.' }),
  last: t.int({ description: 'How many to give when paging backwards, 0 to 100.' }),
  before: t.string({ description: 'Give those that precede this cursor or id, the nearest of them.' }),
}));

/**
 * The part of a query that chooses rows: what Prisma's `findMany` takes. In another order than by id it names that column, too.
 */
export interface PageQuery {
  where: { id?: { lt?: string; gt?: string } };
  orderBy: { id: 'asc' | 'desc' }[];
  take: number;
}

/** The list that a page is of. */
interface PagedList extends Partial<Pick<ListSelection, 'order' | 'parameters'>> {
  /** What its ids begin with; null: they may be any texts. */
  prefix: IdPrefix | null;
  path: string;
  /** In another order than by id: the row with this id, or null. */
  findPosition?(id: string): Promise<object | null>;
}

/**
 * Reads one page: one row more than it holds, so as to know whether there is another.
 * @throws {ApiError} when a size is not from 0 to 100, a cursor is not from this list, or both directions are asked for.
 */
export async function readPage(
  args: PageArguments,
  { prefix, path, order = NEWEST_FIRST, parameters = {}, findPosition }: PagedList,
  find: (slice: PageQuery) => Promise<ObjectRow[]>,
  count: () => Promise<number>,
): Promise<ConnectionPage> {
  const isBackwards = args.last != null || args.before != null;
  const member = isBackwards ? 'before' : 'after';
  const given = args[member];
  const { limit, cursor } = checkAll({
    limit: () => checkPageSize(args),
    cursor: () => (given == null ? null : readCursor(given, member, prefix, order)),
  });
  const position = cursor === null ? undefined : await positionOf(cursor, order.column, member, findPosition);
  const rows: ObjectRow[] = [];
  for (const segment of segmentsAfter(isBackwards ? reversed(order) : order, position)) {
    rows.push(...(await find({ ...(segment as Omit<PageQuery, 'take'>), take: limit + 1 - rows.length })));
    if (rows.length > limit) break;
  }
  const hasMore = rows.length > limit;
  if (hasMore) rows.pop();
  if (isBackwards) rows.reverse();
  return {
    rows,
    order,
    hasNextPage: isBackwards ? cursor !== null : hasMore,
    hasPreviousPage: isBackwards ? hasMore : cursor !== null,
    path,
    limit,
    parameters,
    count,
  };
}

/** @throws {ApiError} when only its id is known and the row has been deleted, so that its place in the order is not known. */
async function positionOf(
  { id, value }: ReadCursor,
  column: string,
  member: string,
  findPosition: PagedList['findPosition'],
): Promise<Position> {
  if (column === 'id') return { id, value: id };
  if (value !== undefined) return { id, value };
  const row = (await findPosition?.(id)) as Record<string, unknown> | null | undefined;
  if (!row) throw new ApiError('cursorGone', { member });
  return { id, value: row[column] };
}

/** @returns how many rows a page is to have. @throws {ApiError} when there is none of that size, or both directions are asked for. */
export function checkPageSize({ first, after, last, before }: PageArguments): number {
  const isBackwards = last != null || before != null;
  if (isBackwards && (first != null || after != null)) throw new ApiError('bothDirections');
  return checkSize(isBackwards ? 'last' : 'first', (isBackwards ? last : first) ?? PAGE_SIZE_MAX, 0);
}

/** @throws {ApiError} when a list of so many is not to be had. */
export function checkSize(member: string, size: number, min = 1): number {
  if (size < min || size > PAGE_SIZE_MAX) throw new ApiError('limitOutOfRange', { member, min, max: PAGE_SIZE_MAX });
  return size;
}

export const PageInfo = builder.objectRef<ConnectionPage>('PageInfo').implement({
  description: 'Where a page lies in its list (Relay’s cursor connections).',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      description: 'Whether objects follow this page: older ones, unless another order was asked for.',
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', { description: 'Whether objects precede this page.' }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first object of the page: the `before` of the page that precedes it.',
      resolve: (page) => cursorAt(page, 0),
    }),
    endCursor: t.string({
      nullable: true,
      description:
        'The cursor of the last object: the `after` of the next page in this order, also when that object is gone.',
      resolve: (page) => cursorAt(page, -1),
    }),
  }),
});

const edgeType = (name: string) => builder.objectRef<{ row: ObjectRow; cursor: () => string }>(`${name}ConnectionEdge`);
const edgeTypes = new Map<string, ReturnType<typeof edgeType>>();

const connectionType = (name: string) => builder.objectRef<ConnectionPage>(`${name}Connection`);
type ConnectionRef = ReturnType<typeof connectionType>;

const connections = new Map<string, ConnectionRef>();

/** The type of the pages of lists of a type of object. @throws {Error} when there are no such lists. */
export function connectionTypeOf(typeName: string): ConnectionRef {
  const found = connections.get(typeName);
  if (!found) throw new Error(`there is no connection of ${typeName}`);
  return found;
}

/** The type of the edges of a connection. @throws {Error} when there is no such connection. */
export function edgeTypeOf(name: string): ReturnType<typeof edgeType> {
  const found = edgeTypes.get(name);
  if (!found) throw new Error(`there is no connection ${name}`);
  return found;
}

/**
 * The connection type of a list of `ref`.
 * @param isInRest whether REST has such a list, too: pages have its URIs then.
 * @param isCounted whether it can be told how many there are.
 */
export function connectionOf(ref: ObjectRowRef, name: string, { isInRest = true, isCounted = true } = {}) {
  const listed = isInRest ? name : ref.name;
  const Edge = edgeType(name);
  Edge.implement({
    description: `One ${listed} of a page.`,
    fields: (t) => ({
      cursor: t.string({
        description: 'Its cursor: its id, and more in another order than by id.',
        resolve: ({ cursor }) => cursor(),
      }),
      node: t.field({ type: ref, description: 'The object itself.', resolve: ({ row }) => row }),
    }),
  });
  edgeTypes.set(name, Edge);
  const Connection = connectionType(name);
  connections.set(name, Connection);
  Connection.implement({
    description: `A page of a list of ${listed}.`,
    fields: (t) => ({
      nodes: t.field({ type: [ref], description: 'The objects of this page.', resolve: ({ rows }) => rows }),
      edges: t.field({
        type: [Edge],
        description: 'The same objects, each with its cursor.',
        resolve: ({ rows, order, cursors }) =>
          rows.map((row, index) => ({ row, cursor: () => cursors?.[index] ?? cursorOf(row, order) })),
      }),
      pageInfo: t.field({ type: PageInfo, description: 'Where this page lies in the list.', resolve: (page) => page }),
      ...(isCounted && countField(t)),
      ...(isInRest && uriFields(t)),
    }),
  });
  return Connection;
}

type PageBuilder = PothosSchemaTypes.ObjectFieldBuilder<
  PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>,
  ConnectionPage
>;

const countField = (t: PageBuilder) => ({
  totalCount: t.int({
    description: 'How many objects the whole list has now: of those that its filter and its search leave.',
    resolve: ({ count }) => count(),
  }),
});

const uriFields = (t: PageBuilder) => ({
  uri: t.string({
    description: 'The URI of the list as a REST resource.',
    resolve: ({ path, part }, _, context) => context.uri(part ? `${path}?${new URLSearchParams(part)}` : path),
  }),
  nextPageUri: t.string({
    nullable: true,
    description:
      'The URI of the next page as a REST resource; null on the last page, and where `where` is given, which REST has not.',
    resolve: (page, _, context) => nextPageUri(page, context),
  }),
});

/** @param index from the end, where it is negative. */
function cursorAt({ rows, order, cursors }: ConnectionPage, index: number): string | null {
  const row = rows.at(index);
  return row ? (cursors?.at(index) ?? cursorOf(row, order)) : null;
}

function nextPageUri(page: ConnectionPage, context: Context): string | null {
  const { hasNextPage, path, limit, parameters } = page;
  const cursor = cursorAt(page, -1);
  if (!hasNextPage || cursor === null || !parameters) return null;
  const query = new URLSearchParams({ before_id: cursor, limit: String(limit), ...parameters });
  return context.uri(`${path}?${query}`);
}
