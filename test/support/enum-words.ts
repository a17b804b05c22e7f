// Values of enums, of which GraphQL has capitals and REST lower case, for tests that ask both doors for the same.

import {
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { schema } from '../../src/api/schema.ts';

const enums = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type) && type.extensions.inLowerCase);
const names = new Set(enums.flatMap((type) => (isEnumType(type) ? type.getValues().map(({ name }) => name) : [])));

/** An answer of GraphQL with the words that REST has. */
export function withRestWords<T>(body: T): T {
  if (body === undefined) return body;
  const text = JSON.stringify(body).replace(/:"([A-Z_]+)"/g, (found, word) =>
    names.has(word) ? found.toLowerCase() : found,
  );
  return JSON.parse(text);
}

/** An input with the words of REST, in camelCase, as GraphQL has it. What is no word of an enum stays as it is. */
export function withGraphqlWords(type: GraphQLInputType | undefined, value: unknown): unknown {
  const inner = type && getNullableType(type);
  if (Array.isArray(value)) return value.map((one) => withGraphqlWords(isListType(inner) ? inner.ofType : inner, one));
  const named = inner && getNamedType(inner);
  if (isEnumType(named) && typeof value === 'string') {
    const name = value.toUpperCase();
    return named.extensions.inLowerCase && named.getValue(name) ? name : value;
  }
  if (!isInputObjectType(named) || typeof value !== 'object' || value === null) return value;
  const fields = named.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withGraphqlWords(fields[name]?.type, member)]),
  );
}

/** The type of an argument of a mutation. */
export function inputTypeOf(mutation: string): GraphQLInputType | undefined {
  return schema
    .getMutationType()
    ?.getFields()
    [mutation]?.args.find(({ name }) => name === 'input')?.type;
}
