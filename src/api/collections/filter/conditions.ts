// Comparisons of members with constants, as Prisma's `where` has them. They have three outcomes like SQL and CEL: what compares
// null in any other way than by == is neither true nor false, so that its negation leaves no row either.

import { Prisma } from '../../../store/generated/prisma/client.ts';
import { isStorable } from '../../text-limits.ts';
import { columnIs, type FilterMember } from '../members.ts';
import { likePattern } from '../search-words.ts';

/** Comparisons that one filter may have, in either form, and levels of what joins them. */
export const FILTER_COMPARISONS_MAX = 100;
export const FILTER_LEVELS_MAX = 32;

/** A time: the second that it is in, since 1970, and whether it is the beginning of it. */
export class Time {
  readonly seconds: number;
  readonly isWhole: boolean;

  constructor(seconds: number, isWhole: boolean) {
    this.seconds = seconds;
    this.isWhole = isWhole;
  }
}

/** What a member is compared with. */
export type Constant = string | number | bigint | boolean | null | Time | Date | Constant[];

/** A part of Prisma's `where`; or what is true or false of every row. */
export type RowCondition = object | boolean;

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** A member as a filter names it: labels are named one at a time. */
export interface MemberUse {
  member: FilterMember;
  name: string;
  /** Of labels: which one. */
  key?: string;
}

/** A comparison that is not possible; the message is to be read after the name of the member. */
export class NotComparable extends Error {}

export function and(conditions: readonly RowCondition[]): RowCondition {
  if (conditions.includes(false)) return false;
  const parts = conditions.filter((condition) => condition !== true);
  return parts.length > 1 ? { AND: parts } : (parts[0] ?? true);
}

export function or(conditions: readonly RowCondition[]): RowCondition {
  if (conditions.includes(true)) return true;
  const parts = conditions.filter((condition) => condition !== false);
  return parts.length > 1 ? { OR: parts } : (parts[0] ?? false);
}

export function not(condition: RowCondition): RowCondition {
  return typeof condition === 'boolean' ? !condition : { NOT: condition };
}

/** `member == value` and the like. @throws {NotComparable} saying what would be right. */
export function compare(use: MemberUse, comparison: Comparison, value: Constant): RowCondition {
  if (comparison === '!=') return not(equal(use, value));
  if (comparison === '==') return equal(use, value);
  if (use.member.type === 'number') return { [use.member.column]: { [OPERATORS[comparison]]: numberOf(value) } };
  if (use.member.type !== 'timestamp')
    throw new NotComparable('has no order: < and > are for times and numbers. Whole lists can be ordered by it');
  return compareTime(use, comparison, value);
}

function equal(use: MemberUse, value: Constant): RowCondition {
  const { member, key } = use;
  const { column, isNullable = false } = member;
  if (value === member.otherwise) return or([valueIs(member, { equals: value }), isMissing(member)]);
  if (member.type === 'texts' || member.type === 'relatedTexts') return equalList(use, value);
  if (value === null && key === undefined) return isNullable && isMissing(member);
  switch (member.type) {
    case 'timestamp':
      return compareTime(use, '==', value);
    case 'boolean':
      if (typeof value !== 'boolean') throw new NotComparable('is true or false');
      return { [column]: value };
    case 'number':
      return unlessNull(member, { [column]: numberOf(value) });
    case 'labels':
      if (key === undefined)
        throw new NotComparable(`is a map: compare one of its values, as in ${use.name}["key"] == "value"`);
      return isStorable(textOf(value)) && { [column]: { path: [key], equals: value } };
    default: {
      const stored = storedOf(member, textOf(value));
      return stored !== undefined && unlessNull(member, valueIs(member, { equals: stored }));
    }
  }
}

/** Lists are compared with nothing only: whether they are empty. */
function equalList({ member, name }: MemberUse, value: Constant): RowCondition {
  const isNothing = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (!isNothing) throw new NotComparable(`is a list: look for one of its texts, as in "text" in ${name}`);
  return isEmpty({ member, name });
}

const OPERATORS = { '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte' } as const;

/** Expressions compare times as REST shows them, to the second: 12:00:00 is all of that second. A date is that very millisecond. */
function compareTime({ member }: MemberUse, comparison: Exclude<Comparison, '!='>, value: Constant): RowCondition {
  if (value instanceof Date)
    return comparison === '=='
      ? unlessNull(member, { [member.column]: value })
      : { [member.column]: { [OPERATORS[comparison]]: value } };
  if (!(value instanceof Time))
    throw new NotComparable('is a time: compare it with one, as timestamp("2026-01-31T12:00:00Z") or daysAgo(7)');
  const { column } = member;
  const begin = new Date(value.seconds * 1000);
  const end = new Date(value.seconds * 1000 + 1000);
  const next = value.isWhole ? begin : end;
  switch (comparison) {
    case '<':
      return { [column]: { lt: next } };
    case '<=':
      return { [column]: { lt: end } };
    case '>':
      return { [column]: { gte: end } };
    case '>=':
      return { [column]: { gte: next } };
    case '==':
      return value.isWhole && unlessNull(member, { [column]: { gte: begin, lt: end } });
  }
}

/** `member in ["a", "b"]`. */
export function isOneOf(use: MemberUse, values: readonly Constant[]): RowCondition {
  const { member } = use;
  const isText = member.type === 'id' || member.type === 'choice' || (member.type === 'text' && !member.path);
  if (!isText) return or(values.map((value) => equal(use, value)));
  const stored = values.flatMap((value) => (value === null ? [] : (storedOf(member, textOf(value)) ?? [])));
  const isMissingToo = values.includes(null) || (member.otherwise !== undefined && values.includes(member.otherwise));
  return or([
    stored.length > 0 && unlessNull(member, columnIs(member, { in: stored })),
    isMissingToo && equal(use, member.otherwise ?? null),
  ]);
}

/** `"text" in member`. */
export function includes({ member, name }: MemberUse, value: Constant): RowCondition {
  const { column } = member;
  const text = textOf(value);
  if (!isStorable(text)) return false;
  if (member.type === 'texts') return { [column]: { has: text } };
  if (member.type === 'relatedTexts') return { [column]: { some: { [member.of]: text } } };
  if (member.type === 'labels') return { [column]: { path: [text], not: Prisma.AnyNull } };
  throw new NotComparable(`is no list: ${name} == "text" or ${name}.contains("text") would be possible`);
}

const PATTERNS = {
  contains: ['contains', 'string_contains'],
  startsWith: ['startsWith', 'string_starts_with'],
  endsWith: ['endsWith', 'string_ends_with'],
} as const;

export type TextFunction = keyof typeof PATTERNS;

export function isTextFunction(name: string): name is TextFunction {
  return Object.hasOwn(PATTERNS, name);
}

/** `member.contains("text")` and the like. */
export function hasText({ member }: MemberUse, method: TextFunction, value: Constant): RowCondition {
  if (member.type !== 'text')
    throw new NotComparable(
      member.type === 'id' || member.type === 'choice'
        ? 'can be compared by == and in only'
        : `is no text, and has no ${method}()`,
    );
  const text = textOf(value);
  if (!isStorable(text)) return false;
  if (text === member.otherwise) return true; // Every text has it.
  const [ofText, ofJson] = PATTERNS[method];
  return valueIs(member, { [member.path ? ofJson : ofText]: likePattern(text) });
}

/** `size(member) == 0`. */
export function isEmpty({ member }: MemberUse): RowCondition {
  const { column } = member;
  switch (member.type) {
    case 'texts':
      return { [column]: { isEmpty: true } };
    case 'relatedTexts':
      return { [column]: { none: {} } };
    case 'text':
      return member.otherwise === undefined
        ? valueIs(member, { equals: '' })
        : or([valueIs(member, { equals: '' }), isMissing(member)]);
    default:
      throw new NotComparable('is no text and no list, and has no size()');
  }
}

/** `has(member)`: whether it is not null. */
export function isPresent({ member, key }: MemberUse): RowCondition {
  const { column, isNullable = false } = member;
  if (key !== undefined) return { [column]: { path: [key], not: Prisma.AnyNull } };
  return !isNullable || hasValue(member);
}

/** Whether it is null: whether there is none, where it is in another table. */
function isMissing(member: FilterMember): RowCondition {
  return member.through ? not(hasValue(member)) : { [member.column]: null };
}

/** Prisma refuses `not: null` of columns that are never null, as those of other tables are. Every text is at least "". */
function hasValue(member: FilterMember): RowCondition {
  return columnIs(member, member.through ? { gte: '' } : { not: null });
}

function valueIs(member: FilterMember, filter: object): RowCondition {
  return columnIs(member, member.type === 'text' && member.path ? { path: member.path, ...filter } : filter);
}

/** The condition with an outcome for null, too, so that its negation has one. */
function unlessNull(member: FilterMember, condition: RowCondition): RowCondition {
  const { isNullable = false, through } = member;
  return isNullable || through ? and([hasValue(member), condition]) : condition;
}

/** What is stored for what is shown; undefined for what nothing has. */
function storedOf(member: FilterMember, text: string): string | undefined {
  if (!isStorable(text)) return undefined;
  if (member.type !== 'choice') return text;
  // GraphQL has the words in capitals.
  const word = text === text.toUpperCase() && !Object.hasOwn(member.choices, text) ? text.toLowerCase() : text;
  return Object.hasOwn(member.choices, word) ? member.choices[word] : undefined;
}

function textOf(value: Constant): string {
  if (typeof value !== 'string') throw new NotComparable('is a text: write what it is compared with in quotes');
  return value;
}

/** Whole numbers of CEL have 64 bits, those that are stored the precision of 53. */
function numberOf(value: Constant): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number))
    throw new NotComparable('is a number: compare it with one');
  return number;
}
