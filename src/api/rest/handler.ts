// Route rows → Express handlers. The one generic handler runs the row's operation against the schema that GraphQL
// clients use; snake_case exists only here.

import express, { type Express } from 'express';
import {
  type GraphQLArgument,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { PAGE_SIZE_MAX } from '../collections/page.ts';
import { ApiError } from '../errors/errors.ts';
import { checkEach } from '../errors/problems.ts';
import type { ApiExchange } from '../exchange.ts';
import { readInput, restInput } from '../graphql/input.ts';
import { internalOperation } from '../graphql/internal-operations.ts';
import type { PreparedOperation } from '../graphql/operation.ts';
import { runOperation } from '../graphql/run-operation.ts';
import type { Admit } from '../http/admission.ts';
import { checkContentType, hasBody, parseStrictly, readBody } from '../http/request-body.ts';
import { checkPreconditions } from '../http/request-head.ts';
import { sendError, sendJson } from '../http/responses.ts';
import { camelCase, inSnakeCase, restName, snakeCase } from '../naming.ts';
import { DIALECTS, type Dialect, type Route, routesOf } from '../route.ts';
import { underAlias } from '../route-aliases.ts';
import { serveAbsentPaths } from './absent-paths.ts';

/** A row, ready to answer requests. */
export interface PreparedRoute extends Route {
  /** Prepared when it is first read. */
  readonly operation: PreparedOperation;
  /** Arguments that come from the path, from the query (by its REST name), from the body. */
  pathArguments: string[];
  queryArguments: Map<string, GraphQLArgument>;
  takesBody: boolean;
  /** By their REST names. */
  inputMembers: ReadonlySet<string>;
  dialect: Dialect;
  /** A member that may hold the whole input. */
  wrapper: string | undefined;
  takesKey: boolean;
}

export type PreparedRoutes = Record<Dialect, PreparedRoute[]>;

/**
 * Another name of a parameter that every list of the extended dialect takes: a client in wide use sends it, and would page for ever
 * if it were ignored.
 */
const EVERYWHERE = { beforeId: 'after' };

/** @throws {Error} naming the row, when one is not in keeping with the schema: a wrong row cannot boot. */
export function prepareRoutes(schema: GraphQLSchema, rows: readonly Route[]): PreparedRoutes {
  const [documented, extended] = DIALECTS.map((dialect) =>
    routesOf(rows, dialect).map((row) => prepareRoute(schema, row, dialect)),
  ) as [PreparedRoute[], PreparedRoute[]];
  return { documented, extended };
}

/** Arguments of lists that are no parameters of REST. */
const GRAPHQL_ONLY = ['last', 'before', 'where', 'filterVariables', 'orderBy'];

function prepareRoute(schema: GraphQLSchema, row: Route, dialect: Dialect): PreparedRoute {
  const kind = row.method === 'GET' ? 'query' : 'mutation';
  const field = (kind === 'query' ? schema.getQueryType() : schema.getMutationType())?.getFields()[row.field];
  const name = `${row.method} ${row.path}`;
  if (!field) throw new Error(`${name}: the schema has no ${kind} ${row.field}`);

  const pathArguments = [...row.path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => camelCase(parameter));
  const takesKey = field.args.some((argument) => argument.name === 'idempotencyKey');
  const input = field.args.find((argument) => argument.name === 'input');
  const takesBody = input !== undefined;
  const inputType = input && getNamedType(input.type);
  const inputMembers = new Set(isInputObjectType(inputType) ? Object.keys(inputType.getFields()).map(restName) : []);
  const { parameters = {}, wrapper } = row.extended ?? {};
  const isExtended = dialect === 'extended';
  const otherArguments = [...pathArguments, 'input', 'idempotencyKey', ...GRAPHQL_ONLY];
  const argumentNamed = new Map(field.args.map((argument) => [argument.name, argument]));
  const unknown = Object.values(parameters).find((argument) => !argumentNamed.has(argument));
  if (unknown !== undefined) throw new Error(`${name}: ${row.field} has no argument ${unknown}`);
  const queryArguments = new Map(
    field.args
      .filter((argument) => ![...otherArguments, ...Object.values(parameters)].includes(argument.name))
      .map((argument) => [restName(argument.name), argument]),
  );
  for (const [parameter, argument] of isExtended ? Object.entries({ ...EVERYWHERE, ...parameters }) : []) {
    const it = argumentNamed.get(argument);
    if (it) queryArguments.set(parameter, it);
  }
  const missing = pathArguments.find((parameter) => !field.args.some((argument) => argument.name === parameter));
  if (missing) throw new Error(`${name}: ${row.field} has no argument ${missing}`);
  if (row.method === 'POST' && !takesKey) throw new Error(`${name}: ${row.field} takes no idempotencyKey`);

  const used = field.args.filter((argument) => !GRAPHQL_ONLY.includes(argument.name));
  const variables = used.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
  const values = used.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const selection = row.selection ? ` { ${inSnakeCase(row.selection)} }` : '';
  const source = `${kind} ${row.field}Rest${variables && `(${variables})`} { ${row.field}${values && `(${values})`}${selection} }`;
  return {
    ...row,
    get operation() {
      return internalOperation(schema, name, source);
    },
    pathArguments,
    queryArguments,
    takesBody,
    inputMembers,
    dialect,
    wrapper: isExtended ? wrapper : undefined,
    takesKey,
  };
}

/** Where the API is described, for people and for programs (RFC 8631), and where GraphiQL is. */
const DESCRIPTIONS =
  '</docs>; rel="service-doc"; type="text/html", </openapi.json>; rel="service-desc"; type="application/json", ' +
  '</graphql>; rel="service-doc"; type="text/html"; title="GraphiQL"';

/** The collections of the API by name, and where each is: `{ uri, subresource_uris }`. */
export function serveCollectionList(rows: readonly PreparedRoute[]): (exchange: ApiExchange) => void {
  const lists = rows.filter(
    ({ method, path, selection }) => method === 'GET' && !path.includes(':') && selection.includes(': nodes'),
  );
  return (exchange) => {
    const { baseUrl } = exchange;
    const uris = lists.map(({ path }) => [path.slice(1).replaceAll('/', '_'), baseUrl + path]);
    exchange.response.setHeader('Link', DESCRIPTIONS);
    sendJson(exchange, 200, { uri: `${baseUrl}/`, subresource_uris: Object.fromEntries(uris) });
  };
}

/** Documents about the API itself, by path; they need no API key. */
export type PublicDocuments = Record<string, (exchange: ApiExchange) => void>;

/** The Express application of the documented paths. @param exports downloads of lists, by path. */
export function createRestApp(
  routes: PreparedRoutes,
  documents: PublicDocuments,
  exports: ReadonlyMap<string, (exchange: ApiExchange) => Promise<void>>,
  admit: Admit,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');

  for (const [path, respond] of Object.entries(documents)) {
    app.all(path, (request, response) => {
      const { exchange } = response.locals as { exchange: ApiExchange };
      if (!isAllowed(request.method, ['GET'], exchange)) return;
      respond(exchange);
    });
  }
  for (const [path, serve] of exports) {
    app.all(path, (request, response) => {
      const { exchange } = response.locals as { exchange: ApiExchange };
      if (!isAllowed(request.method, ['GET'], exchange)) return;
      serve(exchange).catch((error) => sendError(exchange, error));
    });
  }
  for (const path of new Set(routes.extended.map((row) => row.path))) {
    const byMethod = (dialect: Dialect) =>
      new Map<string, PreparedRoute>(
        routes[dialect].filter((row) => row.path === path).map((row) => [row.method, row]),
      );
    const rows = { documented: byMethod('documented'), extended: byMethod('extended') };
    app.all(path, (request, response, next) => {
      const { exchange } = response.locals as { exchange: ApiExchange };
      const ofPath = rows[exchange.dialect];
      if (ofPath.size === 0) return next();
      const row = ofPath.get(request.method === 'HEAD' ? 'GET' : request.method);
      if (!isAllowed(request.method, [...ofPath.keys()], exchange) || !row) return;
      exchange.log.operation = row.field;
      respond(row, request.params as Record<string, string>, exchange, admit).catch((error) =>
        sendError(exchange, error),
      );
    });
  }
  serveAbsentPaths(app);
  app.use((_request, response) => sendError(response.locals.exchange, new ApiError('pathNotFound')));
  app.use(((error, _request, response, _next) => {
    // A path that cannot be decoded is one that nothing has.
    sendError(response.locals.exchange, error instanceof URIError ? new ApiError('pathNotFound') : error);
  }) as express.ErrorRequestHandler);
  return app;
}

/** Answers OPTIONS, and what a path does not take, itself. */
function isAllowed(method: string, methods: string[], exchange: ApiExchange): boolean {
  const all = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
  if (method !== 'OPTIONS' && all.includes(method)) return true;
  const allowed = all.join(', ');
  if (method === 'OPTIONS') exchange.response.writeHead(204, { Allow: allowed }).end();
  else sendError(exchange, new ApiError('methodNotAllowed', { method, allowed }));
  return false;
}

async function respond(
  row: PreparedRoute,
  parameters: Record<string, string>,
  exchange: ApiExchange,
  admit: Admit,
): Promise<void> {
  const context = await admit(exchange);
  checkPreconditions(exchange.request);
  const variables = await readVariables(row, parameters, exchange);
  const { data, errors } = await runOperation(row.operation, variables, context, restInput);
  if (errors?.[0]) throw errors[0];
  const shown = underAlias((data as Record<string, unknown>)[row.field], row, exchange.baseUrl);
  const { texts } = row.extended ?? {};
  const body = texts && row.dialect === 'extended' ? withTexts(shown, texts) : shown;
  if (row.status === 204) exchange.response.writeHead(204).end();
  else sendJson(exchange, row.status, body, !row.operation.holdsSecrets);
}

/** An answer with "" for null in members of certain names. */
function withTexts(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withTexts(item, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      member === null && names.includes(name) ? '' : withTexts(member, names),
    ]),
  );
}

async function readVariables(
  row: PreparedRoute,
  parameters: Record<string, string>,
  { request }: ApiExchange,
): Promise<Record<string, unknown>> {
  const variables: Record<string, unknown> = {};
  let hasRequestBody = hasBody(request);
  const isUnexpected = !row.takesBody && (row.method === 'GET' || row.method === 'DELETE');
  if (hasRequestBody && !isUnexpected) checkContentType(request);
  // Some clients send an empty object along with every DELETE.
  if (hasRequestBody && isUnexpected && !(row.method === 'DELETE' && isEmpty(await readBody(request))))
    throw new ApiError('unexpectedBody', { method: request.method ?? row.method });
  if (isUnexpected) hasRequestBody = false;
  const bytes = hasRequestBody ? await readBody(request) : undefined;
  const isExtended = row.dialect === 'extended';
  // The original's TypeScript client writes the id of the path, without quotes, where there is nothing to write.
  const isId = isExtended && !row.takesBody && bytes?.toString() === parameters.id;
  const body = bytes && !isId ? parseStrictly(bytes) : {};
  const input = row.takesBody || isExtended ? inputOf(row, body, parameters) : body;
  const [culprit] = row.takesBody ? [] : Object.keys(input);
  if (culprit !== undefined) throw new ApiError('unknownMember', { culprit, known: 'none' });
  if (row.takesBody) variables.input = input;

  readQuery(row, request.url ?? '', variables);
  for (const name of row.pathArguments) variables[name] = parameters[snakeCase(name)];
  if (row.takesKey && request.headers['idempotency-key'] !== undefined)
    variables.idempotencyKey = String(request.headers['idempotency-key']);
  return variables;
}

function isEmpty(body: Buffer): boolean {
  return /^\s*(\{\s*\})?\s*$/.test(body.toString());
}

/**
 * The body without what clients send along that is not the operation's input: what the path says already, and members that
 * are only ever empty here.
 * @throws {ApiError} where such a member says more than that.
 */
function inputOf(
  { pathArguments, ignoredMembers: unavailable = [], inputMembers, wrapper }: PreparedRoute,
  body: Record<string, unknown>,
  parameters: Record<string, string>,
): object {
  const input = wrapper === undefined ? body : unwrapped(body, wrapper);
  for (const name of [...pathArguments.map(snakeCase), ...unavailable]) {
    const value = input[name];
    if (value === undefined || inputMembers.has(name)) continue;
    const isEmpty = value === null || value === '';
    if (!isEmpty && unavailable.includes(name)) throw new ApiError('memberUnavailable', { member: name });
    if (!isEmpty && value !== parameters[name]) throw new ApiError('pathMemberDiffers', { member: name });
    delete input[name];
  }
  return input;
}

/** The members of a body, those of its wrapper among them. */
function unwrapped(body: Record<string, unknown>, wrapper: string): Record<string, unknown> {
  const { [wrapper]: inner, ...outer } = body;
  const isWrapped = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return isWrapped ? { ...outer, ...inner } : body;
}

function readQuery({ queryArguments }: PreparedRoute, url: string, variables: Record<string, unknown>): void {
  const start = url.indexOf('?');
  if (start < 0) return;
  checkEach([...new URLSearchParams(url.slice(start + 1))], ([name, value]) => {
    const argument = queryArguments.get(name);
    if (!argument)
      throw new ApiError('unknownParameter', { culprit: name, known: [...queryArguments.keys()].join(', ') || 'none' });
    const before = variables[argument.name];
    if (isListType(getNullableType(argument.type)))
      variables[argument.name] = [...(Array.isArray(before) ? before : []), value];
    else if (before !== undefined) throw new ApiError('repeatedParameter', { culprit: name });
    else
      variables[argument.name] =
        argument.name === 'first' ? readLimit(value) : readInput(argument.type, value, name, restInput);
  });
}

function readLimit(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new ApiError('limitNotANumber', { member: 'limit', max: PAGE_SIZE_MAX });
  const limit = Number(text);
  if (limit < 1) throw new ApiError('limitOutOfRange', { member: 'limit', min: 1, max: PAGE_SIZE_MAX });
  return limit;
}
