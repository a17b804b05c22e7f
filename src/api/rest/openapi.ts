// `/openapi.json`: OpenAPI 3.1, from the route table and the schema. Nothing of it is written by hand. It describes the documented
// dialect; `?dialect=extended` the one for clients written for the original service.

import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { PAGE_SIZE_MAX } from '../collections/page.ts';
import { errorCode, errorPrefix } from '../errors/error-code.ts';
import { errorTable } from '../errors/error-table.ts';
import { ApiError } from '../errors/errors.ts';
import type { ApiExchange } from '../exchange.ts';
import { answerType, shownOnce } from '../graphql/payload-answers.ts';
import { type CachedBody, createCachedBody, sendCached } from '../http/cached-body.ts';
import { sendError, sendJson } from '../http/responses.ts';
import { inSnakeCase, restName, snakeCase } from '../naming.ts';
import { restEnumOf, restWord } from '../rest-words.ts';
import { DIALECTS, type Dialect } from '../route.ts';
import type { PreparedRoute, PreparedRoutes } from './handler.ts';
import { scalarSchema } from './openapi-scalars.ts';

type Json = Record<string, unknown>;
type Paths = Record<string, Json>;

const JSON_TYPE = 'application/json; charset=utf-8';
/** Addresses that the document is kept for. An API has one or two; who makes up more of them gets it made each time. */
const KNOWN_MAX = 4;

const error = { $ref: '#/components/schemas/Error' };

export interface OpenApiOptions {
  /** Paths that are no rows. */
  more: Paths;
  /** The headers in which a request may say its version: that of the specification, and its aliases. */
  versionHeaders: readonly string[];
}

/** The documents but for the address of the API, by dialect: each is made once, when somebody asks for it. */
export type OpenApiDocuments = Record<Dialect, () => OpenApiDocument>;

/** What of a document those need who add to it. */
export interface OpenApiDocument {
  paths: Paths;
  components: { schemas: Json };
}

export function openApiDocuments(
  schema: GraphQLSchema,
  routes: PreparedRoutes,
  { more, versionHeaders: [ownHeader, ...aliases] }: OpenApiOptions,
): OpenApiDocuments {
  return {
    documented: once(() =>
      openApiOf(schema, routes.documented, { more, dialect: 'documented', header: ownHeader, info: documentedInfo }),
    ),
    // Each alias will do; a document can only require one.
    extended: once(() =>
      openApiOf(schema, routes.extended, {
        more,
        dialect: 'extended',
        header: aliases[0],
        info: extendedInfo(aliases),
      }),
    ),
  };
}

/** It takes as long as the rest of a start's API. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** @returns what answers with the document of the dialect that a request's query names. */
export function serveOpenApi(
  documents: OpenApiDocuments,
  complete: (document: OpenApiDocument, baseUrl: string) => object = (document) => document,
): (to: ApiExchange) => void {
  const serve: Record<Dialect, (to: ApiExchange) => void> = {
    documented: serveDocument((baseUrl) => complete(documents.documented(), baseUrl)),
    extended: serveDocument((baseUrl) => complete(documents.extended(), baseUrl)),
  };
  return (exchange) => serve[askedDialect(exchange.request.url ?? '')](exchange);
}

/** @throws {ApiError} when the query has anything but a dialect. */
export function askedDialect(url: string): Dialect {
  const [, query = ''] = /\?(.*)$/s.exec(url) ?? [];
  let asked: string | undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name !== 'dialect') throw new ApiError('unknownParameter', { culprit: name, known: 'dialect' });
    if (asked !== undefined) throw new ApiError('repeatedParameter', { culprit: name });
    asked = value;
  }
  const dialect = DIALECTS.find((known) => known === (asked ?? 'documented'));
  if (!dialect)
    throw new ApiError('wrongValue', { member: 'dialect', reason: `it must be one of ${DIALECTS.join(', ')}` });
  return dialect;
}

function serveDocument(make: (baseUrl: string) => object): (to: ApiExchange) => void {
  const known = new Map<string, Promise<CachedBody>>();
  const documentFor = (baseUrl: string) => ({ ...make(baseUrl), servers: [{ url: baseUrl }] });
  return (exchange) => {
    const { baseUrl, response } = exchange;
    if (!known.has(baseUrl) && known.size < KNOWN_MAX)
      known.set(baseUrl, createCachedBody(JSON_TYPE, Buffer.from(JSON.stringify(documentFor(baseUrl)))));
    const stored = known.get(baseUrl);
    if (!stored) return sendJson(exchange, 200, documentFor(baseUrl));
    stored.then(
      (body) => response.destroyed || sendCached(response, body, 'no-cache'),
      (thrown) => {
        known.delete(baseUrl);
        sendError(exchange, thrown);
      },
    );
  };
}

const documentedInfo = 'What clients get that send the header `Service-Version`.';

const extendedInfo = (aliases: readonly string[]) =>
  'What clients written for the original service get: those that say their version in one of the headers of the setting ' +
  `\`VERSION_HEADER_ALIASES\`, which are ${aliases.join(', ') || 'none at this gateway, so that no client gets it'}.`;

interface Described {
  more: Paths;
  dialect: Dialect;
  /** The header that says the version; undefined where none is accepted. */
  header: string | undefined;
  /** Whom the document is for. */
  info: string;
}

/** @returns the document, but for the address of the API. */
function openApiOf(
  schema: GraphQLSchema,
  rows: readonly PreparedRoute[],
  { more, dialect, header, info: description }: Described,
): OpenApiDocument {
  const inputs: Json = {};
  const paths: Paths = { ...publicPaths, ...more };
  const version = header === undefined ? [] : [versionParameter(header)];
  for (const row of rows) {
    const path = row.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operationOf(schema, row, { inputs, version }) };
  }
  const license = { name: 'MIT', identifier: 'MIT' };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Tunnel Gateway Management API', description, version: '2', license },
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      schemas: { Error: errorSchema(dialect), ...inputs },
    },
  };
  return document;
}

/** The two documents that tell a client what there is. */
const publicPaths: Paths = {
  '/': { get: publicOperation('map', 'The collections of the API by name, and where each is.', rootSchema()) },
  '/openapi.json': {
    get: {
      ...publicOperation('openapi', 'This document.', { type: 'object' }),
      parameters: [
        {
          name: 'dialect',
          in: 'query',
          required: false,
          description: 'Which dialect it is to describe.',
          schema: { enum: DIALECTS, default: 'documented' },
        },
      ],
    },
  },
};

function versionParameter(header: string): Json {
  const name = header.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
  return { name, in: 'header', required: true, description: 'The version of the API.', schema: { const: '2' } };
}

function rootSchema(): Json {
  const uris = { type: 'object', additionalProperties: { type: 'string' } };
  return objectOf({ uri: { type: 'string' }, subresource_uris: uris }, ['uri', 'subresource_uris']);
}

function publicOperation(operationId: string, description: string, schema: Json): Json {
  const responses = {
    200: { description: 'The answer.', content: json(schema) },
    default: { description: 'An error.', content: json(error) },
  };
  return { operationId, description, security: [], responses };
}

function operationOf(
  schema: GraphQLSchema,
  row: PreparedRoute,
  { inputs, version }: { inputs: Json; version: Json[] },
): Json {
  const root = row.method === 'GET' ? schema.getQueryType() : schema.getMutationType();
  const field = root?.getFields()[row.field] as GraphQLField<unknown, unknown>; // `prepareRow` has looked it up.
  const argument = (name: string) => field.args.find((candidate) => candidate.name === name) as GraphQLArgument;
  const selection = row.selection ? selectionOf(inSnakeCase(row.selection)) : undefined;
  const answer =
    selection && row.status !== 204 ? { content: json(outputOf(schema, answerType(field), selection, false)) } : {};
  return {
    operationId: row.operationId ?? row.field,
    description: field.description,
    parameters: [
      ...version,
      ...row.pathArguments.map((name) => parameter('path', snakeCase(name), argument(name), true)),
      ...[...row.queryArguments].map(([name, it]) => parameter('query', name, it, false)),
      ...(row.takesKey ? [parameter('header', 'Idempotency-Key', argument('idempotencyKey'), false)] : []),
    ],
    ...(row.takesBody
      ? { requestBody: { required: row.method === 'PUT', content: json(inputOf(argument('input').type, inputs)) } }
      : {}),
    responses: {
      [row.status]: { description: row.status === 204 ? 'Done.' : 'The answer.', ...answer },
      default: { description: 'An error.', content: json(error) },
    },
  };
}

function selectionOf(members: string): SelectionSetNode {
  return (parse(`{ ${members} }`).definitions[0] as OperationDefinitionNode).selectionSet;
}

function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

function parameter(place: string, name: string, { type, description }: GraphQLArgument, required: boolean): Json {
  const schema =
    name === 'limit'
      ? { type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_MAX }
      : isListType(getNullableType(type))
        ? { type: 'array', items: { type: 'string' } }
        : { type: 'string' };
  return { name, in: place, required: required || isNonNullType(type), description, schema };
}

const errorSchema = (dialect: Dialect) => ({
  type: 'object',
  description: 'Every error. The texts are for people; `error_code` is for programs.',
  required: ['error_code', 'status_code', 'msg', 'details'],
  additionalProperties: false,
  properties: {
    error_code: {
      anyOf: [
        { enum: Object.values(errorTable).map(([number]) => errorCode(number, dialect)) },
        {
          type: 'string',
          pattern: `^${errorPrefix(2200, dialect)}22\\d\\d$`,
          description: 'What is wrong with a traffic policy.',
        },
      ],
    },
    status_code: { type: 'integer', minimum: 400, maximum: 599 },
    msg: { type: 'string' },
    details: {
      type: 'object',
      description:
        'What finds the request in the log of the gateway, and what is wrong with each member of the input that is to blame, under its ' +
        'path, as `acl[0]`.',
      required: ['operation_id'],
      additionalProperties: { type: 'string' },
      properties: { operation_id: { type: 'string', pattern: '^op_[0-9A-Za-z]{27}$' } },
    },
  },
});

/** The JSON Schema of what a selection of a type shows: every selected member, and no other. */
function outputOf(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
  nullable = true,
): Json {
  if (isNonNullType(type)) return outputOf(schema, type.ofType, selection, false);
  if (isListType(type)) return orNull({ type: 'array', items: outputOf(schema, type.ofType, selection) }, nullable);
  if (!selection) return orNull(leafOf(type as GraphQLNamedType), nullable);
  const members = membersOf(schema, type as GraphQLObjectType, selection);
  return orNull(
    objectOf(
      Object.fromEntries(members.map(({ name, value }) => [name, value])),
      members.filter(({ isAlways }) => isAlways).map(({ name }) => name),
    ),
    nullable,
  );
}

interface Member {
  name: string;
  value: Json;
  /** False for what a fragment selects: only objects of its type have it. */
  isAlways: boolean;
}

function membersOf(schema: GraphQLSchema, type: GraphQLObjectType, { selections }: SelectionSetNode): Member[] {
  const fields = type.getFields();
  return selections.flatMap((node): Member[] => {
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const inner = schema.getType(node.typeCondition?.name.value ?? type.name) as GraphQLObjectType;
      return membersOf(schema, inner, node.selectionSet).map((member) => ({ ...member, isAlways: false }));
    }
    if (node.kind !== Kind.FIELD) return [];
    const once = fields[node.name.value] ? undefined : shownOnce(schema, type.name)[node.name.value];
    const field = fields[node.name.value] ?? (once && { ...once, type: getNullableType(once.type) });
    if (!field) return [];
    const isNullable = field.extensions?.isAlwaysNamed !== true;
    const value = {
      ...outputOf(schema, field.type, node.selectionSet, isNullable),
      description: restDescription(field),
    };
    return [{ name: (node.alias ?? node.name).value, value, isAlways: true }];
  });
}

function objectOf(properties: Json, required: string[]): Json {
  return { type: 'object', properties, required, additionalProperties: false };
}

function orNull(schema: Json, nullable: boolean): Json {
  return nullable ? { anyOf: [schema, { type: 'null' }] } : schema;
}

function leafOf(type: GraphQLNamedType): Json {
  if (!isEnumType(type) || restEnumOf(type)?.isText) return scalarSchema(type.name);
  return { enum: type.getValues().map(({ name }) => restWord(type, name)) };
}

/** What a member is, with the words that REST has. */
function restDescription({
  type,
  description,
}: {
  type: GraphQLInputType | GraphQLOutputType;
  description?: string | null | undefined;
}) {
  const inner = getNamedType(type);
  if (!isEnumType(inner) || !restEnumOf(inner)) return description;
  return description?.replace(/`[A-Z_]+`/g, (word) => word.toLowerCase());
}

/** The JSON Schema of an input; input objects are components, named as in GraphQL. */
function inputOf(type: GraphQLInputType, inputs: Json, nullable = true): Json {
  if (isNonNullType(type)) return inputOf(type.ofType, inputs, false);
  if (isListType(type)) return orNull({ type: 'array', items: inputOf(type.ofType, inputs) }, nullable);
  if (!isInputObjectType(type)) return orNull(leafOf(type), nullable);
  if (!(type.name in inputs)) {
    inputs[type.name] = {}; // An input may contain itself.
    const fields = Object.values(type.getFields());
    const members = fields.map((field) => [
      restName(field.name),
      { ...inputOf(field.type, inputs), description: restDescription(field) },
    ]);
    const required = fields.filter((field) => isNonNullType(field.type)).map((field) => restName(field.name));
    inputs[type.name] = { ...objectOf(Object.fromEntries(members), required), description: type.description };
  }
  return orNull({ $ref: `#/components/schemas/${type.name}` }, nullable);
}
