// What the tools of front ends take for granted of a schema: Relay's rules for lists and objects, and names as everywhere.

import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  isUnionType,
} from 'graphql';

/** A rule: what of a schema breaks it, by name. */
export type SchemaRule = (schema: GraphQLSchema) => string[];

const typesOf = (schema: GraphQLSchema) =>
  Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));

/** Fields of types that answers have, each with its name. */
const fieldsOf = (schema: GraphQLSchema): [string, GraphQLField<unknown, unknown>][] =>
  typesOf(schema).flatMap((type) =>
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields()).map((field): [string, typeof field] => [`${type.name}.${field.name}`, field])
      : [],
  );

/** The type of a field as text; undefined where there is no such field. */
function typeIn(type: GraphQLNamedType | undefined, field: string): string | undefined {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[field]?.type.toString() : undefined;
}

const isConnection = ({ name }: GraphQLNamedType) => name.endsWith('Connection');
const typesBreaking = (breaks: (type: GraphQLNamedType, schema: GraphQLSchema) => boolean): SchemaRule => {
  return (schema) => typesOf(schema).flatMap((type) => (breaks(type, schema) ? [type.name] : []));
};

/** The arguments that a list of pages has. */
const pageArguments = { first: 'Int', after: 'String', last: 'Int', before: 'String' };

const pageInfo = { hasNextPage: 'Boolean!', hasPreviousPage: 'Boolean!', startCursor: 'String', endCursor: 'String' };

export const schemaRules: Record<string, SchemaRule> = {
  'a connection has edges and where its page lies': typesBreaking((type) => {
    if (!isConnection(type)) return false;
    const isWhole = /^\[\w+Edge!\]!$/.test(typeIn(type, 'edges') ?? '') && typeIn(type, 'pageInfo') === 'PageInfo!';
    return !isObjectType(type) || !isWhole;
  }),

  'an edge of a connection has a cursor and an object, and the nodes beside it are the same objects': typesBreaking(
    (type) => {
      const edges = isObjectType(type) && isConnection(type) ? type.getFields().edges : undefined;
      if (!edges) return false;
      const edge = getNamedType(edges.type);
      const node = typeIn(edge, 'node');
      const nodes = typeIn(type, 'nodes');
      return typeIn(edge, 'cursor') !== 'String!' || !node || (nodes !== undefined && nodes !== `[${node}]!`);
    },
  ),

  'PageInfo is as Relay has it': typesBreaking(
    (type) =>
      type.name === 'PageInfo' &&
      Object.entries(pageInfo).some(([field, expected]) => typeIn(type, field) !== expected),
  ),

  'a field that gives a connection pages both ways': (schema) =>
    fieldsOf(schema).flatMap(([name, { type, args }]) => {
      if (!isConnection(getNamedType(type))) return [];
      const given = Object.fromEntries(args.map((argument) => [argument.name, String(argument.type)]));
      const isWhole = Object.entries(pageArguments).every(([argument, expected]) => given[argument] === expected);
      return isWhole && !isListType(type) ? [] : [name];
    }),

  'what takes a number of objects gives a connection': (schema) =>
    fieldsOf(schema).flatMap(([name, { type, args }]) =>
      args.some((argument) => argument.name in pageArguments) && !isConnection(getNamedType(type)) ? [name] : [],
    ),

  '`node` finds what is a Node, by the id that it has': (schema) => {
    const node = schema.getQueryType()?.getFields().node;
    const takesId = node?.args.length === 1 && node.args[0]?.name === 'id' && String(node.args[0].type) === 'ID!';
    return String(node?.type) === 'Node' && takesId && typeIn(schema.getType('Node'), 'id') === 'ID!' ? [] : ['node'];
  },

  'an id is an ID, and there wherever its type is': (schema) =>
    fieldsOf(schema).flatMap(([name, { type }]) => (name.endsWith('.id') && String(type) !== 'ID!' ? [name] : [])),

  'a mutation takes an object of members as its `input`': (schema) =>
    Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap(({ name, args }) =>
      args.some((argument) => isInputObjectType(getNamedType(argument.type)) !== (argument.name === 'input'))
        ? [name]
        : [],
    ),

  'types have names in PascalCase': typesBreaking(({ name }) => !/^[A-Z][A-Za-z0-9]*$/.test(name)),

  'fields, arguments and members have names in camelCase': (schema) =>
    typesOf(schema).flatMap((type) => {
      if (isEnumType(type) || isUnionType(type) || !('getFields' in type)) return [];
      const members: { name: string; args?: readonly { name: string }[] }[] = Object.values(type.getFields());
      const names = members.flatMap(({ name, args = [] }) => [name, ...args.map((argument) => argument.name)]);
      return names.filter((name) => !/^[a-z][A-Za-z0-9]*$/.test(name)).map((name) => `${type.name}.${name}`);
    }),

  'values of enums are in capitals': typesBreaking(
    (type) => isEnumType(type) && type.getValues().some(({ name }) => !/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(name)),
  ),

  'what is sent ends in Input, Where, Order or Filter, and nothing else does': typesBreaking(
    (type) => !isEnumType(type) && isInputObjectType(type) !== /(Input|Where|Order|Filter)$/.test(type.name),
  ),
};
