// How a value is held against what the tables say of it.

import type { Member, Type } from './tables.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
type Json = any;

const inner = (type: Type): Type => (type.kind === 'list' ? inner(type.of) : type);

/** What an answer has too much or too little, by path; within objects of objects, too. */
export function differences(value: Json, members: Member[], at = ''): string[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => differences(item, members, `${at}[${index}]`));
  if (typeof value !== 'object') return [`${at} is no object`];
  const names = members.map(({ name }) => name);
  const path = (name: string) => (at ? `${at}.${name}` : name);
  return [
    ...Object.keys(value)
      .filter((name) => !names.includes(name))
      .map((name) => `${path(name)} is not in the table`),
    ...names.filter((name) => !(name in value)).map((name) => `${path(name)} is missing`),
    ...members.flatMap(({ name, type }) => {
      const held = inner(type);
      return held.kind === 'object' && value[name] !== undefined
        ? differences(value[name], held.members, path(name))
        : [];
    }),
  ];
}

/** What a value must be. */
export const wordsOf = (type: Type): string =>
  type.kind === 'list'
    ? `a list: each item is ${wordsOf(type.of)}`
    : {
        string: 'a string',
        timestamp: 'an RFC 3339 timestamp',
        boolean: 'a boolean',
        uint32: 'a uint32',
        float64: 'a float64',
        object: 'an object',
      }[type.kind];

const TIMESTAMP = /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])T[0-2]\d:[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
export const UINT32_MAX = 4_294_967_295;

export function fits(value: Json, type: Type): boolean {
  if (type.kind === 'list') return Array.isArray(value) && value.every((item) => fits(item, type.of));
  if (type.kind === 'string') return typeof value === 'string';
  if (type.kind === 'timestamp') return TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));
  if (type.kind === 'boolean') return typeof value === 'boolean';
  if (type.kind === 'uint32') return Number.isInteger(value) && value >= 0 && value <= UINT32_MAX;
  if (type.kind === 'float64') return typeof value === 'number';
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every member, those within others by their path. */
export const everyMember = (members: Member[], at = ''): { path: string; type: Type }[] =>
  members.flatMap(({ name, type }) => {
    const held = inner(type);
    const path = `${at}${name}`;
    return [{ path, type }, ...(held.kind === 'object' ? everyMember(held.members, `${path}.`) : [])];
  });

/** Every value at a path: one for each item where lists are on the way, none where something on the way is null. */
export function valuesAt(value: Json, path: string): Json[] {
  return path.split('.').reduce<Json[]>(
    (found, name) =>
      found
        .flat()
        .filter((one) => one !== null && one !== undefined)
        .map((one) => one[name]),
    [value],
  );
}
