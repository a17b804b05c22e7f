// The Pothos builder, the scalars that every resource may use, and the codes of problems.

import SchemaBuilder, { type ObjectRef } from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import { GraphQLError } from 'graphql';
import type { PrismaClient } from '../../store/database/client.ts';
import { datamodel } from '../../store/database/datamodel.ts';
import type PrismaTypes from '../../store/generated/pothos.ts';
import type { Context } from '../context.ts';
import { problemCodes } from '../errors/problem-codes.ts';
import LoadedPlugin from './loaded-rows.ts';
import PayloadsPlugin from './payloads.ts';
import RootFieldsPlugin from './root-fields.ts';
import { exactRfc3339, parseRfc3339 } from './timestamps.ts';

const UINT32_MAX = 4_294_967_295;

export interface SchemaTypes {
  Context: Context;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    Timestamp: { Input: Date; Output: Date };
    UInt32: { Input: number; Output: number };
    Labels: { Input: Record<string, string>; Output: Record<string, string> };
    Weights: { Input: Record<string, number>; Output: Record<string, number> };
    Json: { Input: unknown; Output: unknown };
  };
}

/** An object type whose rows have an id; which other members they have is its own file's business. */
export type ObjectRowRef = ObjectRef<PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>, ObjectRow>;

export interface ObjectRow {
  id: string;
}

export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [RootFieldsPlugin, PayloadsPlugin, LoadedPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  prisma: {
    // A transaction offers all that the plugin uses; only connecting is missing, which it never does.
    client: (context) => context.db as PrismaClient,
    dmmf: datamodel,
    exposeDescriptions: false,
    onUnusedQuery: null,
  },
});

builder.queryType({
  description: 'What can be read. Every field but `node`’s `null` answers with an error when it cannot be given.',
});
builder.mutationType({
  description:
    'What can be changed. Each mutation answers with a payload of its own: with the object that changed, or the id of one that is gone.',
});
builder.subscriptionType({ description: 'What can be watched: over a WebSocket, or by server-sent events.' });

builder.scalarType('Timestamp', {
  description:
    'A point in time: RFC 3339, in UTC, to the millisecond, as in `2026-11-21T09:00:00.123Z`. REST has it to the second.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (value) => exactRfc3339(value as Date),
  parseValue: (value) => {
    const date = typeof value === 'string' ? parseRfc3339(value) : undefined;
    if (date) return date;
    throw new GraphQLError('must be a point in time by RFC 3339, as in 2026-11-21T09:00:00Z');
  },
});

builder.scalarType('UInt32', {
  description: 'A whole number from 0 to 4294967295.',
  specifiedByURL: 'https://www.w3.org/TR/xmlschema-2/#unsignedInt',
  serialize: (value) => value as number,
  parseValue: (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= UINT32_MAX) return value;
    throw new GraphQLError('must be a whole number from 0 to 4294967295');
  },
});

builder.scalarType('Labels', {
  description: 'An object whose members are all strings, as in `{ "app": "shop", "site": "berlin" }`.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259#section-4',
  serialize: (value) => value as Record<string, string>,
  parseValue: (value) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isObject && Object.values(value).every((member) => typeof member === 'string'))
      return value as Record<string, string>;
    throw new GraphQLError('must be an object whose members are all strings');
  },
});

builder.scalarType('Weights', {
  description: 'An object whose members are all whole numbers: weights by the ids of what has them.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259#section-4',
  serialize: (value) => value as Record<string, number>,
  parseValue: (value) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isObject && Object.values(value).every(Number.isInteger)) return value as Record<string, number>;
    throw new GraphQLError('must be an object whose members are all whole numbers');
  },
});

builder.scalarType('Json', {
  description: 'Any value of JSON: an object, a list, a text, a number, true, false or null.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) => value,
  parseValue: (value) => value,
});

/** No field has it: it is in the schema so that clients know all codes. */
builder.enumType('ProblemCode', {
  description:
    'What is wrong with a member of an input: the `code` of each of the `problems` in the `extensions` of an error, beside its ' +
    '`path`, from the argument on, as `["input", "acl", 0]`, and its `message`. No field has this type: it is here for clients that ' +
    'are generated. Words in braces are replaced in messages.',
  values: Object.fromEntries(
    problemCodes.map(({ code, number, text }) => [
      code,
      { description: `The error \`ERR_GATEWAY_${number}\`: ${text}` },
    ]),
  ),
});
