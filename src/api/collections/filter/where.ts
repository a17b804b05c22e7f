// Filters as input objects, `where: { createdAt: { gte: … } }`: the conditions that expressions in CEL become, too.

import { ApiError } from '../../errors/errors.ts';
import { camelCase } from '../../naming.ts';
import type { FilterMember, ListMembers } from '../members.ts';
import {
  and,
  type Comparison,
  compare,
  FILTER_COMPARISONS_MAX,
  FILTER_LEVELS_MAX,
  hasText,
  includes,
  isEmpty,
  isOneOf,
  isPresent,
  isTextFunction,
  type MemberUse,
  not,
  or,
  type RowCondition,
} from './conditions.ts';

/** What is asked of one member, by the names that the input type of its kind has; null counts as left out. */
export type MemberFilter = Readonly<Record<string, unknown>>;
/** What an object has to be: members, and other conditions that are joined. */
export type WhereInput = Readonly<Record<string, unknown>>;

const COMPARED: Readonly<Record<string, Comparison>> = { eq: '==', lt: '<', lte: '<=', gt: '>', gte: '>=' };

/** A member as GraphQL names it: `created_at` is `createdAt`, `credential.id` is `credentialId`. */
export function inputNameOf(restName: string): string {
  const parts = restName.split('.').filter((part, index, all) => part !== all[index - 1]);
  return camelCase(parts.join('_'));
}

/**
 * Translates a filter to a part of Prisma's `where`.
 * @param where as its input type has it, which is made of the same members.
 * @throws {ApiError} for more comparisons or levels than a filter may have.
 */
export function translateWhere(where: WhereInput, members: ListMembers): RowCondition {
  return new Translation(members).condition(where, 'where', 0);
}

class Translation {
  readonly #members: ReadonlyMap<string, MemberUse>;
  #comparisons = 0;

  constructor(members: ListMembers) {
    const uses = Object.entries(members).map(([name, member]) => [inputNameOf(name), { member, name }] as const);
    this.#members = new Map(uses);
  }

  /** @param at where it is in the input, for errors. */
  condition(where: WhereInput, at: string, depth: number): RowCondition {
    if (depth > FILTER_LEVELS_MAX) throw tooMuch(at, `at most ${FILTER_LEVELS_MAX} levels are possible`);
    return and(
      given(where).map(([name, value]) => {
        if (name === 'not') return not(this.condition(value as WhereInput, `${at}.not`, depth + 1));
        if (name === 'and' || name === 'or') {
          const parts = (value as WhereInput[]).map((one, index) =>
            this.condition(one, `${at}.${name}[${index}]`, depth + 1),
          );
          return name === 'and' ? and(parts) : or(parts);
        }
        const use = this.#members.get(name) as MemberUse; // The input type has no others.
        const filters = (Array.isArray(value) ? value : [value]) as MemberFilter[];
        return and(filters.flatMap((filter) => this.#member(use, filter, `${at}.${name}`)));
      }),
    );
  }

  #member(use: MemberUse, { key, ...filter }: MemberFilter, at: string): RowCondition[] {
    const own = typeof key === 'string' ? { ...use, key } : use;
    return given(filter).map(([name, value]) => {
      if (++this.#comparisons > FILTER_COMPARISONS_MAX)
        throw tooMuch(at, `at most ${FILTER_COMPARISONS_MAX} comparisons are possible`);
      return conditionOf(own, name, value);
    });
  }
}

function conditionOf(use: MemberUse, name: string, value: unknown): RowCondition {
  const { member } = use;
  const comparison = COMPARED[name];
  if (comparison) return compare(use, comparison, constantOf(member, value));
  if (name === 'in')
    return isOneOf(
      use,
      (value as unknown[]).map((one) => constantOf(member, one)),
    );
  if (name === 'isNull') return value === true ? not(isPresent(use)) : isPresent(use);
  if (name === 'isEmpty') return value === true ? isEmpty(use) : not(isEmpty(use));
  if (isTextFunction(name))
    return member.type === 'text' ? hasText(use, name, String(value)) : includes(use, String(value));
  throw new Error(`filters have no ${name}`);
}

function constantOf(member: FilterMember, value: unknown): Date | string | number | boolean {
  if (value instanceof Date) return value;
  if (member.type !== 'choice') return value as string | number | boolean;
  const word = Object.keys(member.choices).find((one) => member.choices[one] === value);
  if (word === undefined) throw new Error(`nothing that is stored is called ${value}`);
  return word;
}

/** What was given: a variable that is null was not. */
function given(input: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(input).filter(([, value]) => value !== null && value !== undefined);
}

function tooMuch(member: string, reason: string): ApiError {
  return new ApiError('wrongValue', { member, reason });
}
