// The rows of a list, page by page, by the operation that clients page through themselves.

import { type ListWalk, walkList } from '../../collections/list.ts';
import type { SelectionArguments } from '../../collections/selection.ts';
import { isAllowedStill } from '../../collections/watching.ts';
import { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { ExportedList } from './exported-lists.ts';

const PAGE_SIZE = 500;

export type Row = Record<string, unknown>;

export interface RowPage {
  rows: Row[];
  /** How many the list had when the first page was read; undefined of the others. */
  total?: number;
}

/**
 * All pages, each read when it is asked for. A row that is there all the time is in one of them.
 * @throws {ApiError} when an argument cannot be used, or the caller may not read any more.
 */
export async function* readPages(
  { operation }: ExportedList,
  args: SelectionArguments,
  context: Context,
): AsyncGenerator<RowPage> {
  const { app, operationId, baseUrl, caller, client } = context;
  const walk: ListWalk = { size: PAGE_SIZE, isOver: false };
  for (let page = 0; !walk.isOver; page++) {
    if (page > 0 && !(await isAllowedStill(context))) throw new ApiError('subscriptionOver');
    // What is looked up once for an operation is looked up again for the next page.
    const ofPage = new Context(app, operationId, baseUrl, caller, client);
    walkList(ofPage, walk);
    const { data, errors } = await operation.run({ ...args, counting: page === 0 }, ofPage);
    if (errors?.[0]) throw errors[0];
    yield (data as { list: RowPage }).list;
  }
}
