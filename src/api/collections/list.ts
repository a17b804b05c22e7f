// The arguments that every list takes, and the page that they choose.

import type { Db } from '../../store/database/client.ts';
import { readRowPage, rowSelection } from '../../store/database/row-pages.ts';
import { modelOf } from '../../store/database/rows-by-id.ts';
import { builder, type ObjectRow } from '../builder/builder.ts';
import type { Context } from '../context.ts';
import { checkAll } from '../errors/problems.ts';
import type { IdPrefix } from './cursor.ts';
import { listInputs } from './list-inputs.ts';
import type { ListMembers } from './members.ts';
import type { PrismaTable } from './nodes.ts';
import { type ListOrder, type Position, segmentsAfter } from './order.ts';
import { type ConnectionPage, checkPageSize, type PageArguments, type PageQuery, readPage } from './page.ts';
import { type SelectionArguments, selectionHelp, selectRows } from './selection.ts';

/** The arguments of a list whose objects have these members. @param typeName of the objects. @param order that it usually has. */
export function listArguments(typeName: string, members: ListMembers, order?: string) {
  const help = selectionHelp(members, order);
  const { Where, Order } = listInputs(typeName, members);
  return builder.args((t) => ({
    first: t.int({ description: 'How many to give, 0 to 100; 100 when left out.' }),
    after: t.string({ description: 'Give those after this cursor or id: older, unless ordered otherwise.' }),
    last: t.int({ description: 'How many to give when paging backwards, 0 to 100.' }),
    before: t.string({ description: 'Give those that precede this cursor or id, the nearest of them.' }),
    where: t.field({ type: Where, description: help.where }),
    filter: t.string({ description: help.filter }),
    filterVariables: t.field({ type: 'Json', description: help.filterVariables }),
    orderBy: t.field({ type: [Order], description: help.orderBy }),
    order: t.string({ description: help.order }),
    search: t.string({ description: help.search }),
  }));
}

/** What a list is read from. */
export interface ListSource {
  /** What the ids begin with. */
  prefix: IdPrefix;
  /** The REST path of the list. */
  path: string;
  members: ListMembers;
  /** The order that it has unless another is asked for, as REST writes it; by id, the newest first, when left out. */
  order?: string;
  table: PrismaTable;
  /** The part of a query that leaves what the caller may see. */
  scope: object;
  /** The account whose rows these are, where nothing else decides who may see them. */
  accountId?: string | undefined;
}

/** A list that the gateway itself reads from its beginning to its end, in pages of its own size. */
export interface ListWalk {
  /** The rows of a page. */
  size: number;
  /** Where the page before ended: known also when that row is gone. */
  position?: Position;
  /** Whether the last page was read. */
  isOver: boolean;
}

const walks = new WeakMap<Context, ListWalk>();

/** Has the list that is read in this context go on where the walk is, whatever page it is asked for. */
export function walkList(context: Context, walk: ListWalk): void {
  walks.set(context, walk);
}

async function readNext(
  walk: ListWalk,
  order: ListOrder,
  query: object,
  find: (query: { where: object }) => Promise<unknown[]>,
): Promise<ObjectRow[]> {
  const { column } = order;
  const rows: (ObjectRow & Record<string, unknown>)[] = [];
  for (const segment of segmentsAfter(order, walk.position)) {
    rows.push(...((await find({ ...query, ...segment, take: walk.size - rows.length } as never)) as typeof rows));
    if (rows.length === walk.size) break;
  }
  const last = rows.at(-1);
  if (last) walk.position = { id: last.id, value: last[column] };
  walk.isOver = rows.length < walk.size;
  return rows;
}

/**
 * One page of a list.
 * @param query what Prisma is to load of each row.
 * @throws {ApiError} when an argument cannot be used.
 */
export async function readList(
  source: ListSource,
  args: PageArguments & SelectionArguments,
  context: Context,
  query: { select?: object; include?: object },
): Promise<ConnectionPage> {
  const { prefix, path, members, order: usual, table, scope } = source;
  const { selection } = await checkAll({
    selection: () => selectRows(args, members, context, usual),
    size: () => checkPageSize(args),
  });
  const { where: selected, order, parameters } = selection;
  const count = () => table.count({ where: { AND: [scope, selected] } });
  // What cursors are made of, whether it is asked for or not.
  const select = { id: true, [order.column]: true };
  const loaded = query.select ? { ...query, select: { ...query.select, ...select } } : query;
  const walk = walks.get(context);
  if (walk) {
    const rows = await readNext(walk, order, loaded, ({ where, ...slice }) =>
      table.findMany({ ...slice, where: { AND: [scope, where, selected] } }),
    );
    const ends = { hasNextPage: !walk.isOver, hasPreviousPage: false };
    return { rows, order, ...ends, path, limit: walk.size, parameters, count };
  }
  const findPosition = (id: string) =>
    table.findUnique({ where: { id, AND: scope }, select }) as Promise<object | null>;
  const isWhole = selected.AND.length === 0 && order.column === 'id';
  const find =
    (isWhole && rowsOf(source, context.db, loaded)) ||
    (({ where, ...slice }: PageQuery) =>
      table.findMany({ ...loaded, ...slice, where: { AND: [scope, where, selected] } }) as Promise<ObjectRow[]>);
  return readPage(args, { prefix, path, order, parameters, findPosition }, find, count);
}

/** Reads slices of a list without Prisma; undefined where more is asked for than columns and what these name. */
function rowsOf({ table, accountId }: ListSource, db: Db, query: { select?: object; include?: object }) {
  if (accountId === undefined) return undefined;
  const model = modelOf(table);
  const selection = rowSelection(model, query);
  return (
    selection &&
    ((slice: PageQuery): Promise<ObjectRow[]> => readRowPage(db, model, { accountId, ...slice }, selection))
  );
}
