// The requests that run an operation, through both doors.

import {
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { restName, snakeCase } from '../../src/api/naming.ts';
import type { Route } from '../../src/api/route.ts';
import { withRestWords } from '../support/enum-words.ts';
import { type Field, fieldNamed, mutations, queries } from './operations.ts';

/** A document that runs a root field with these arguments, and asks for all that its answer can show. */
export function documentOf(field: Field, values: object): string {
  const kind = queries.includes(field) ? 'query' : mutations.includes(field) ? 'mutation' : 'subscription';
  const used = field.args.filter(({ name }) => name in values);
  const variables = used.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const given = [...used.map(({ name }) => `${name}: $${name}`), ...sizeOf(field, values)].join(', ');
  // What a list has is taken of each of its objects.
  const depth = isListType(getNullableType(field.type)) ? 3 : 4;
  const call = `${field.name}${given && `(${given})`} ${selectionOf(field.type, depth)}`;
  return `${kind} ${variables && `(${variables})`} { ${call} }`;
}

/** A page of a hundred objects with all that they have would be refused as too large. */
function sizeOf({ type, args }: Field, values: object): string[] {
  const name = 'before' in values ? 'last' : 'first';
  const isPaged = getNamedType(type).name.endsWith('Connection') && args.some((arg) => arg.name === name);
  return isPaged && !(name in values) ? [`${name}: 20`] : [];
}

function selectionOf(type: GraphQLOutputType, depth: number): string {
  const inner = getNamedType(type);
  if (isLeafType(inner)) return '';
  const isPage = inner.name.endsWith('Connection');
  const members = Object.values(
    (isObjectType(inner) || isAbstractType(inner)) && 'getFields' in inner ? inner.getFields() : {},
  )
    // `edges` are the `nodes` again.
    .filter(({ name, args, type: ofMember }) => {
      const isShown = isLeafType(getNamedType(ofMember)) || depth > 1;
      return args.length === 0 && isShown && !(isPage && name === 'edges');
    })
    .map(({ name, type: ofMember }) => `${name} ${selectionOf(ofMember, depth - 1)}`);
  return `{ __typename ${members.join(' ')} }`;
}

/** The REST request of a row with these arguments. */
export function requestOf(row: Route, values: object): { path: string; body?: object } {
  const { input, ...others } = values as Record<string, unknown>;
  const rest = new Map(Object.entries(others).map(([name, value]) => [restName(name), String(value)]));
  const path = row.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = rest.get(name) ?? '';
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams([...rest]).toString();
  const takesBody = fieldNamed(row.field).args.some(({ name }) => name === 'input');
  return { path: path + (query && `?${query}`), ...(takesBody ? { body: inSnakeCase(input ?? {}) as object } : {}) };
}

/** An input of GraphQL as REST takes it. Labels, and ids that are keys of a map, are not members. */
export function inSnakeCase(value: unknown): unknown {
  return withRestWords(renamed(value));
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== 'object' || value === null) return value;
  const nameOf = (key: string) => (key.includes('_') ? key : snakeCase(key));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [nameOf(key), renamed(member)]));
}
