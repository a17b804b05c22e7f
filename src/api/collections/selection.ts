// What every list takes: a page of it, in an order, of what a filter and a search leave.

import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import { isStorable } from '../text-limits.ts';
import type { RowCondition } from './filter/conditions.ts';
import { type ListMembers, namesOf, orderedNamesOf } from './members.ts';
import { type ListOrder, NEWEST_FIRST, parseListOrder } from './order.ts';
import { searchCondition } from './search-words.ts';

export interface SelectionArguments {
  filter?: string | null;
  orderBy?: string | null;
  search?: string | null;
}

/** Which rows of a list are wanted, and in which order. */
export interface ListSelection {
  /** Part of Prisma's `where`. */
  where: object;
  order: ListOrder;
  /** The arguments that were given, as REST names them: the address of the next page has them, too. */
  parameters: Record<string, string>;
}

/** Prisma leaves no row for it, whatever it is combined with. */
const NOTHING = { id: { in: [] } };

/**
 * Reads the arguments of a list that choose its rows.
 * @throws {ApiError} when one cannot be used.
 */
export async function selectRows(
  { filter, orderBy, search }: SelectionArguments,
  members: ListMembers,
  { app }: Pick<Context, 'app'>,
): Promise<ListSelection> {
  const conditions: RowCondition[] = [];
  const parameters: Record<string, string> = {};
  if (filter) {
    if (!isStorable(filter))
      throw new ApiError('wrongValue', { member: 'filter', reason: 'it must be Unicode text without U+0000' });
    const { translateFilter } = await import('./filter/translate.ts');
    conditions.push(translateFilter(filter, members, app.now()));
    parameters.filter = filter;
  }
  if (search?.trim()) {
    conditions.push(searchCondition(search, members));
    parameters.search = search;
  }
  if (orderBy) parameters.order_by = orderBy;
  const where = { AND: conditions.filter((condition) => condition !== true).map((one) => one || NOTHING) };
  return { where, order: orderBy ? parseListOrder(orderBy, members) : NEWEST_FIRST, parameters };
}

/** The descriptions of these arguments. */
export function selectionHelp(members: ListMembers): Record<keyof SelectionArguments, string> {
  return {
    filter:
      'Give only those for which this expression in CEL is true, as in `obj.id in ["…", "…"]`. ' +
      `Members, named as in REST: ${namesOf(members)}.`,
    orderBy: `In which order: a member and \`asc\` or \`desc\`; \`id desc\` when left out. Members: ${orderedNamesOf(members)}.`,
    search:
      'Give only those whose texts have all of these words, in any order and in upper or lower case; at most 10 words.',
  };
}
