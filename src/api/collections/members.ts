// The members that a list can be filtered, ordered and searched by. Each kind of object declares its own, named as REST shows
// them: `created_at`, `credential.id`.

import type { InputRef } from '@pothos/core';

/** An enum of the schema. */
export type ChoiceEnum = InputRef<unknown> & { name: string };

interface Member {
  /** The column, as Prisma names it. */
  column: string;
  /** Whether it may be null. */
  isNullable?: boolean;
  /**
   * Of a text or an id in a row of another table: the relations that lead there, one after the other. Of several ways at most one
   * leads anywhere. The column there is never null.
   */
  through?: readonly (readonly string[])[];
  /** Of such a text: what it counts as where no way leads anywhere. An id is null then. */
  otherwise?: '';
  /** Whether lists can be ordered by it. The migrations have an index for each: account, column, id. */
  isOrdered?: boolean;
}

export type FilterMember = Member &
  (
    | { type: 'id' }
    /** With a path, a text inside a column of JSON; with an enum, one of its values. */
    | { type: 'text'; path?: string[]; enumRef?: ChoiceEnum }
    | { type: 'timestamp' }
    | { type: 'boolean' }
    | { type: 'number' }
    /** An enum, whose values are what is stored, by the words that REST and expressions in CEL have. */
    | { type: 'choice'; enumRef: ChoiceEnum; choices: Readonly<Record<string, string>> }
    /** A column that is a list. */
    | { type: 'texts' }
    /** A list of texts in rows of another table: the relation, and the column there. */
    | { type: 'relatedTexts'; of: string }
    /** An object of texts in JSON. */
    | { type: 'labels' }
  );

/** Members by their names in REST. */
export type ListMembers = Readonly<Record<string, FilterMember>>;

type Options = Pick<Member, 'isNullable' | 'isOrdered' | 'through' | 'otherwise'>;
type TextOptions = Options & { enumRef?: ChoiceEnum };

export const id = (column: string, options: Options = {}): FilterMember => ({ type: 'id', column, ...options });
export const text = (column: string, options: TextOptions = {}): FilterMember => ({ type: 'text', column, ...options });
export const textIn = (column: string, ...path: string[]): FilterMember => ({ type: 'text', column, path });
export const boolean = (column: string): FilterMember => ({ type: 'boolean', column });
export const texts = (column: string): FilterMember => ({ type: 'texts', column });
export const relatedTexts = (column: string, of: string): FilterMember => ({ type: 'relatedTexts', column, of });
export const labels = (column: string): FilterMember => ({ type: 'labels', column });
/** A time; lists can be ordered by it. */
export const time = (column: string, options: Options = {}): FilterMember => ({
  ...{ type: 'timestamp', column, isOrdered: true },
  ...options,
});
/** A number; lists can be ordered by it. */
export const number = (column: string, options: Options = {}): FilterMember => ({
  ...{ type: 'number', column, isOrdered: true },
  ...options,
});
export const choice = (
  column: string,
  enumRef: ChoiceEnum,
  choices: Readonly<Record<string, string>>,
  options: Options = {},
): FilterMember => ({ type: 'choice', column, enumRef, choices, ...options });

/** Values of which REST has the same words as the database. */
export const asStored = (...values: string[]): Record<string, string> =>
  Object.fromEntries(values.map((value) => [value, value]));

/** The condition that a member's column fulfils a filter of Prisma, whichever table it is in. No row there: it fulfils none. */
export function columnIs({ column, through }: FilterMember, filter: unknown): object {
  const ways = (through ?? [[]]).map((way) =>
    way.reduceRight<object>((inner, relation) => ({ [relation]: inner }), { [column]: filter }),
  );
  return ways.length === 1 ? (ways[0] as object) : { OR: ways };
}

/** What every object has. */
export const ID_MEMBER: ListMembers = { id: id('id', { isOrdered: true }) };

/** What most objects have: an id, the time of their creation, and the notes of their owner. */
export const NOTED_MEMBERS: ListMembers = {
  ...ID_MEMBER,
  created_at: time('createdAt'),
  description: text('description', { isOrdered: true }),
  metadata: text('metadata'),
};

/** The names of the members, for messages and descriptions. */
export function namesOf(members: ListMembers): string {
  return Object.keys(members).join(', ');
}

/** The names of those that lists can be ordered by. */
export function orderedNamesOf(members: ListMembers): string {
  return Object.keys(members)
    .filter((name) => members[name]?.isOrdered)
    .join(', ');
}
