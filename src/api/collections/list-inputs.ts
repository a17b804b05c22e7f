// The input types of lists: `where`, with a filter for each member, and `orderBy`. They are made of the members of a list.

import type { InputRef } from '@pothos/core';
import { builder } from '../builder/builder.ts';
import { camelCase } from '../naming.ts';
import { inputNameOf, type WhereInput } from './filter/where.ts';
import type { ChoiceEnum, FilterMember, ListMembers } from './members.ts';
import type { InputBuilder } from './notes.ts';

const NULL = 'Whether there is none.';
const isNull = (t: InputBuilder) => ({ isNull: t.boolean({ description: NULL }) });
const byText = (t: InputBuilder) => ({
  eq: t.string({ description: 'The text itself, in just this case.' }),
  in: t.stringList({ description: 'Any of these texts.' }),
});

const IdFilter = builder.inputType('IdFilter', {
  description: 'What an id has to be: all that is given holds.',
  fields: (t) => ({
    eq: t.id({ description: 'The id itself.' }),
    in: t.idList({ description: 'Any of these ids.' }),
    ...isNull(t),
  }),
});

const TextFilter = builder.inputType('TextFilter', {
  description: 'What a text has to be: all that is given holds. For words in any case there is `search`.',
  fields: (t) => ({
    ...byText(t),
    contains: t.string({ description: 'It has this part, in just this case.' }),
    startsWith: t.string({ description: 'It begins so.' }),
    endsWith: t.string({ description: 'It ends so.' }),
    isEmpty: t.boolean({ description: 'Whether it is "".' }),
    ...isNull(t),
  }),
});

const TimestampFilter = builder.inputType('TimestampFilter', {
  description: 'What a time has to be: all that is given holds. Times are compared to the millisecond.',
  fields: (t) => {
    const time = (description: string) => t.field({ type: 'Timestamp', description });
    return {
      eq: time('This millisecond.'),
      lt: time('Before this millisecond.'),
      lte: time('Before it, or it itself.'),
      gt: time('After this millisecond.'),
      gte: time('After it, or it itself.'),
      ...isNull(t),
    };
  },
});

const NumberFilter = builder.inputType('NumberFilter', {
  description: 'What a number has to be: all that is given holds.',
  fields: (t) => ({
    eq: t.float({ description: 'The number itself.' }),
    in: t.floatList({ description: 'Any of these numbers.' }),
    lt: t.float({ description: 'Less than this.' }),
    lte: t.float({ description: 'This, or less.' }),
    gt: t.float({ description: 'More than this.' }),
    gte: t.float({ description: 'This, or more.' }),
    ...isNull(t),
  }),
});

const BooleanFilter = builder.inputType('BooleanFilter', {
  description: 'Whether a member has to be true or false.',
  fields: (t) => ({ eq: t.boolean({ description: 'What it has to be.' }) }),
});

const TextListFilter = builder.inputType('TextListFilter', {
  description: 'What a list of texts has to have: all that is given holds.',
  fields: (t) => ({
    contains: t.string({ description: 'This text is one of them.' }),
    isEmpty: t.boolean({ description: 'Whether there are none.' }),
  }),
});

const LabelFilter = builder.inputType('LabelFilter', {
  description: 'What a label has to be: all that is given holds.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'The key of the label.' }),
    eq: t.string({ description: 'Its value.' }),
    ...isNull(t),
  }),
});

const enumFilters = new Map<ChoiceEnum, InputRef<unknown>>();

/** The type of the filter of members with values of an enum. */
function enumFilter(enumRef: ChoiceEnum): InputRef<unknown> {
  const known = enumFilters.get(enumRef);
  if (known) return known;
  const { name } = enumRef;
  const filter = builder.inputType(`${name}Filter`, {
    description: `Which \`${name}\` a member has to have: all that is given holds.`,
    fields: (t) => ({
      eq: t.field({ type: enumRef, description: 'The value itself.' }),
      in: t.field({ type: [enumRef], description: 'Any of these values.' }),
      ...isNull(t),
    }),
  });
  enumFilters.set(enumRef, filter);
  return filter;
}

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'In which direction a list is ordered.',
  values: {
    ASC: { value: 'asc', description: 'From the smallest to the largest; what is null comes last.' },
    DESC: { value: 'desc', description: 'From the largest to the smallest; what is null comes first.' },
  } as const,
});

/** An order as its input has it: a member by its name in REST. */
export interface OrderInput {
  field: string;
  direction: 'asc' | 'desc';
}

type ListInputs = ReturnType<typeof newInputs>;
const known = new Map<string, ListInputs>();

/**
 * The types of the arguments `where` and `orderBy` of a list. Lists of the same objects share them.
 * @param name of the type of the objects.
 */
export function listInputs(name: string, members: ListMembers): ListInputs {
  const inputs = known.get(name) ?? newInputs(name, members);
  known.set(name, inputs);
  return inputs;
}

function newInputs(name: string, members: ListMembers) {
  const Where = builder.inputRef<WhereInput>(`${name}Where`);
  Where.implement({
    description: `Which of a list of ${name}: all that is given holds. A member that is null counts as left out.`,
    fields: (t) => ({
      and: t.field({ type: [Where], description: 'All of these hold.' }),
      or: t.field({ type: [Where], description: 'At least one of these holds; none does where the list is empty.' }),
      not: t.field({ type: Where, description: 'This does not hold.' }),
      ...Object.fromEntries(
        Object.entries(members).map(([rest, member]) => [inputNameOf(rest), filterField(t, rest, member)]),
      ),
    }),
  });
  const ordered = Object.entries(members).filter(([, { isOrdered }]) => isOrdered);
  const Field = builder.enumType(`${name}OrderField`, {
    description: `What a list of ${name} can be ordered by.`,
    values: Object.fromEntries(
      ordered.map(([rest]) => [constantCase(rest), { value: rest, description: `Order by \`${inputNameOf(rest)}\`.` }]),
    ),
  });
  const Order = builder.inputRef<OrderInput>(`${name}Order`).implement({
    description: `An order of a list of ${name}. Objects with the same value are ordered by their ids.`,
    fields: (t) => ({
      field: t.field({ type: Field, required: true, description: 'The member to order by.' }),
      direction: t.field({
        type: OrderDirection,
        required: true,
        defaultValue: 'asc',
        description: 'In which direction.',
      }),
    }),
  });
  return { Where, Order };
}

function filterField(t: InputBuilder, restName: string, member: FilterMember) {
  const name = camelCase(restName);
  const description = `What \`${name}\` has to be.`;
  switch (member.type) {
    case 'id':
      return t.field({ type: IdFilter, description });
    case 'text':
      return t.field({ type: member.enumRef ? enumFilter(member.enumRef) : TextFilter, description });
    case 'choice':
      return t.field({ type: enumFilter(member.enumRef), description });
    case 'timestamp':
      return t.field({ type: TimestampFilter, description });
    case 'boolean':
      return t.field({ type: BooleanFilter, description });
    case 'number':
      return t.field({ type: NumberFilter, description });
    case 'texts':
    case 'relatedTexts':
      return t.field({ type: TextListFilter, description });
    case 'labels':
      return t.field({ type: [LabelFilter], description: `What each of these \`${name}\` has to be.` });
  }
}

/** `created_at` is `CREATED_AT`, `credential.id` is `CREDENTIAL_ID`. */
const constantCase = (restName: string) =>
  inputNameOf(restName)
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase();
