// What every list takes: a page of it, in an order, of what a filter and a search leave.

import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import { checkAll } from '../errors/problems.ts';
import { isStorable } from '../text-limits.ts';
import type { RowCondition } from './filter/conditions.ts';
import { inputNameOf, translateWhere, type WhereInput } from './filter/where.ts';
import type { OrderInput } from './list-inputs.ts';
import { type ListMembers, namesOf, orderedNamesOf } from './members.ts';
import { type ListOrder, NEWEST_FIRST, parseListOrder } from './order.ts';
import { searchCondition } from './search-words.ts';

export interface SelectionArguments {
  where?: WhereInput | null;
  filter?: string | null;
  /** Values for the filter: an object of JSON. */
  filterVariables?: unknown;
  orderBy?: readonly OrderInput[] | null;
  /** An order in words, as REST has it: `created_at desc`. */
  order?: string | null;
  search?: string | null;
}

/** Which rows of a list are wanted, and in which order. */
export interface ListSelection {
  /** Part of Prisma's `where`: no conditions leave all rows. */
  where: { AND: object[] };
  order: ListOrder;
  /**
   * The arguments that were given, as REST names them: the address of the next page has them, too. Null where REST has no words for
   * what was given.
   */
  parameters: Record<string, string> | null;
}

const VARIABLES_MAX_BYTES = 8192;

/** Prisma leaves no row for it, whatever it is combined with. */
const NOTHING = { id: { in: [] } };

/**
 * Reads the arguments of a list that choose its rows.
 * @param usualOrder the order when none is given, as REST writes it; by id, the newest first, when left out.
 * @throws {ApiError} when one cannot be used.
 */
export async function selectRows(
  { where: wanted, filter, filterVariables, orderBy, order, search }: SelectionArguments,
  members: ListMembers,
  { app }: Pick<Context, 'app'>,
  usualOrder?: string,
): Promise<ListSelection> {
  const conditions: RowCondition[] = [];
  const parameters: Record<string, string> = {};
  const { ordered } = await checkAll({
    async filter() {
      if (!filter) return;
      if (!isStorable(filter))
        throw new ApiError('wrongValue', { member: 'filter', reason: 'it must be Unicode text without U+0000' });
      const { translateFilter } = await import('./filter/translate.ts');
      const variables = checkVariables(filterVariables);
      conditions.push(translateFilter(filter, members, { now: app.now(), variables }));
      parameters.filter = filter;
    },
    search() {
      if (!search?.trim()) return;
      conditions.push(searchCondition(search, members));
      parameters.search = search;
    },
    where: () => wanted && conditions.push(translateWhere(wanted, members)),
    ordered() {
      const text = orderTextOf(orderBy, order);
      if (!text) return usualOrder === undefined ? NEWEST_FIRST : parseListOrder(usualOrder, members);
      parameters.order_by = text;
      return parseListOrder(text, members);
    },
  });
  const where = { AND: conditions.filter((condition) => condition !== true).map((one) => one || NOTHING) };
  return { where, order: ordered, parameters: wanted || filterVariables ? null : parameters };
}

/** @throws {ApiError} when they are no object of values that a filter can use. */
function checkVariables(variables: unknown): Record<string, unknown> {
  const wrong = (reason: string) => new ApiError('wrongValue', { member: 'filterVariables', reason });
  if (variables === null || variables === undefined) return {};
  if (typeof variables !== 'object' || Array.isArray(variables))
    throw wrong('it must be an object, as in { "name": "app03" }');
  if (Buffer.byteLength(JSON.stringify(variables)) > VARIABLES_MAX_BYTES)
    throw wrong(`it may have at most ${VARIABLES_MAX_BYTES} bytes as JSON`);
  const isPlain = (value: unknown) => value === null || ['string', 'number', 'boolean'].includes(typeof value);
  for (const [name, value] of Object.entries(variables)) {
    if (![name, value].flat().every(isStorable)) throw wrong('its texts must be Unicode without U+0000');
    if (!isPlain(value) && !(Array.isArray(value) && value.every(isPlain)))
      throw wrong(`${name} must be a text, a number, a boolean, null, or a list of such`);
  }
  return variables as Record<string, unknown>;
}

/** @throws {ApiError} when more than one order is given. */
function orderTextOf(orderBy: readonly OrderInput[] | null | undefined, order: string | null | undefined) {
  const [first, ...more] = orderBy ?? [];
  if (!first) return order;
  if (more.length > 0)
    throw new ApiError('wrongValue', { member: 'orderBy', reason: 'a list has one order at a time' });
  if (order) throw new ApiError('wrongValue', { member: 'order', reason: 'send it or orderBy, not both' });
  return `${first.field} ${first.direction}`;
}

/** The descriptions of these arguments. */
export function selectionHelp(members: ListMembers, usualOrder = 'id desc'): Record<keyof SelectionArguments, string> {
  return {
    where: 'Give only those for which this holds, and what `filter` and `search` say.',
    filter:
      'Give only those for which this expression in CEL is true, as in `obj.id in ["…", "…"]`. ' +
      `Members, named as in REST: ${namesOf(members)}.`,
    filterVariables:
      'Values for `filter`, which has them as `vars`: `obj.description.contains(vars.text)` with `{ "text": "…" }`, so that nothing has to ' +
      'be escaped into it. They are texts, numbers, booleans and lists of such. In `filter`, members have the names of GraphQL, too: ' +
      '`obj.createdAt`.',
    orderBy: `In which order: one of them. \`${inputNameOf(usualOrder.replace(/ desc$/, ''))}\`, descending, when left out.`,
    order: `The same in words: a member and \`asc\` or \`desc\`; \`${usualOrder}\` when left out. Members: ${orderedNamesOf(members)}.`,
    search:
      'Give only those whose texts have all of these words, in any order and in upper or lower case; at most 10 words.',
  };
}
