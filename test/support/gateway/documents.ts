// The smallest valid document for each root field of the schema, so that no field can be forgotten.

import {
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import { schema } from '../../../src/api/schema.ts';

export interface RootField {
  kind: 'query' | 'mutation' | 'subscription';
  name: string;
  /** `mutation { deleteCredential(id: "x") }` */
  document: string;
}

/** @param id given wherever an id is asked for. */
export function rootFields(id = 'x'): RootField[] {
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const;
  return roots.flatMap(([kind, root]) =>
    Object.values(root?.getFields() ?? {}).map((field) => {
      const given = field.args.filter(({ type }) => isNonNullType(type));
      const args = given.map(({ name, type }) => `${name}: ${literal(type, id)}`).join(', ');
      const selection = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }';
      return { kind, name: field.name, document: `${kind} { ${field.name}${args && `(${args})`}${selection} }` };
    }),
  );
}

function literal(type: GraphQLInputType, id: string): string {
  if (isNonNullType(type)) return literal(type.ofType, id);
  if (isListType(type)) return `[${literal(type.ofType, id)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
    return `{ ${required.map((field) => `${field.name}: ${literal(field.type, id)}`).join(', ')} }`;
  }
  const known: Record<string, string> = {
    ID: JSON.stringify(id),
    String: '"x"',
    Boolean: 'true',
    Labels: '{ a: "b" }',
    Weights: '{ a: 1 }',
  };
  return known[type.name] ?? '1';
}
