// The order of a list: by a member, and among equal values by id, so that each row has one place. A page is read in segments,
// each of which an index on (account, column, id) answers without looking at the rows before it.

import { ApiError } from '../errors/errors.ts';
import { type ListMembers, orderedNamesOf } from './members.ts';

type Direction = 'asc' | 'desc';

export interface ListOrder {
  column: string;
  isNullable: boolean;
  /** What the column holds. Times are of whole milliseconds. */
  holds: 'texts' | 'times' | 'numbers';
  direction: Direction;
}

/** Where a page begins: behind this row. */
export interface Position {
  id: string;
  value: unknown;
}

/** A part of a list, in the order of the list. */
export interface Segment {
  where: object;
  orderBy: Record<string, Direction>[];
}

export const NEWEST_FIRST: ListOrder = { column: 'id', isNullable: false, holds: 'texts', direction: 'desc' };

/**
 * Reads an order: the name of a member, and `asc` or `desc`; `asc` when left out.
 * @throws {ApiError} naming what the list can be ordered by.
 */
export function parseListOrder(text: string, members: ListMembers): ListOrder {
  const [, name = '', direction = 'asc'] = /^\s*([\w.]+)(?:\s+(asc|desc))?\s*$/i.exec(text) ?? [];
  const member = Object.hasOwn(members, name) ? members[name] : undefined;
  if (!member?.isOrdered) throw new ApiError('badListOrder', { member: 'order', known: orderedNamesOf(members) });
  const { column, isNullable = false, type } = member;
  const holds = type === 'timestamp' ? 'times' : type === 'number' ? 'numbers' : 'texts';
  return { column, isNullable, holds, direction: direction.toLowerCase() as Direction };
}

/** The order read from its end. */
export function reversed(order: ListOrder): ListOrder {
  return { ...order, direction: order.direction === 'asc' ? 'desc' : 'asc' };
}

/** What follows a position, in segments one after the other; the whole list without one. What is null counts as the largest. */
export function segmentsAfter({ column, isNullable, direction }: ListOrder, position?: Position): Segment[] {
  const beyond = direction === 'asc' ? 'gt' : 'lt';
  const byId = [{ id: direction }];
  if (column === 'id') return [{ where: position ? { id: { [beyond]: position.id } } : {}, orderBy: byId }];

  const byValue = [{ [column]: direction }, ...byId];
  const valued = { where: isNullable ? { [column]: { not: null } } : {}, orderBy: byValue };
  const nulls = (where: object = {}) => (isNullable ? [{ where: { [column]: null, ...where }, orderBy: byId }] : []);
  const areNullsLast = direction === 'asc';
  if (!position) return areNullsLast ? [valued, ...nulls()] : [...nulls(), valued];

  const later = { id: { [beyond]: position.id } };
  if (position.value === null) return areNullsLast ? nulls(later) : [...nulls(later), valued];
  return [
    { where: { [column]: position.value, ...later }, orderBy: byId },
    { where: { [column]: { [beyond]: position.value } }, orderBy: byValue },
    ...(areNullsLast ? nulls() : []),
  ];
}
