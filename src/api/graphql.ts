// The GraphQL door. A plain query or mutation by POST takes a short path; everything else (GraphiQL, GET, server-sent
// events) is Yoga's. Both use the same documents, limits, variables, execution and error format.

import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  subscribe,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { graphqlDoor } from './coerce.ts';
import type { Context } from './context.ts';
import { type Documents, parseDocument, prepareOperation, validateDocument } from './documents.ts';
import { ApiError, toApiError } from './errors.ts';
import { checkContentType, type Exchange, noteError } from './http.ts';
import { parseStrictly, readBody } from './json.ts';
import type { Admit } from './rest.ts';
import { runOperation } from './run.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';

/** What GraphiQL shows first. */
const WELCOME = `# The management API of your tunnel gateway. Put an API key into "Headers" below,
# press Ctrl-Enter to run, Ctrl-Space to see what there is; the book on the left explains everything.

query Credentials {
  credentials(first: 10) {
    nodes {
      id
      description
      acl
      owner {
        __typename
        active
      }
    }
    totalCount
  }
}
`;

interface Request {
  query: string;
  variables: Record<string, unknown>;
  operationName: string | null;
}

/** What an error looks like to a GraphQL client. */
function format(error: GraphQLError | Error, exchange: Exchange): GraphQLFormattedError {
  const known = noteError(exchange, error);
  const { locations, path } = error as GraphQLError;
  return {
    message: known.textFor((member) => member),
    ...(locations ? { locations } : {}),
    ...(path ? { path } : {}),
    extensions: { ...known.extensions, operationId: exchange.operationId },
  };
}

export type GraphQLHandler = (exchange: Exchange) => Promise<void>;

export function graphqlHandler(
  schema: GraphQLSchema,
  documents: Documents,
  admit: Admit,
  onlyYoga = false,
): GraphQLHandler {
  const yoga = makeYoga(schema, admit);
  return async (exchange) => {
    const { request, response } = exchange;
    if (!onlyYoga && isPlainPost(request)) return shortPath(exchange);
    return handOver(exchange);

    async function shortPath(exchange: Exchange): Promise<void> {
      const type = /graphql-response\+json/i.test(request.headers.accept ?? '') ? RESPONSE_TYPE : JSON_TYPE;
      // A request error under the newer type has a status of its own; the older one keeps 200 for what is well formed.
      const badRequest = type === RESPONSE_TYPE ? 400 : 200;
      try {
        const body = await readBody(request);
        const context = await admit(exchange);
        const { query, variables, operationName } = readRequest(parseStrictly(body));
        const prepared = documents.prepare(query, operationName, context.isKnown);
        if ('errors' in prepared)
          return send(response, badRequest, type, { errors: prepared.errors.map((error) => format(error, exchange)) });
        const { operation } = prepared;
        exchange.seen.operation = operation.definition.name?.value ?? operation.definition.operation;
        if (operation.definition.operation === 'subscription') return handOver(exchange, body);
        const result = await runOperation(operation, variables, context, graphqlDoor).catch(
          (error) => ({ errors: [error] }) as ExecutionResult,
        );
        const { data, errors } = result;
        const status = data === undefined ? badRequest : 200;
        send(
          response,
          status,
          type,
          errors ? { errors: errors.map((error) => format(error, exchange)), data } : result,
        );
      } catch (error) {
        const shown = format(error as Error, exchange);
        send(response, toApiError(error).error.status, type, { errors: [shown] });
      }
    }

    async function handOver(exchange: Exchange, body?: Buffer): Promise<void> {
      try {
        if (request.method === 'POST') {
          checkContentType(request);
          const bytes = body ?? (await readBody(request));
          parseStrictly(bytes);
          Object.assign(request, { body: bytes.toString('utf8') });
        } else {
          const { searchParams } = new URL(request.url ?? '', 'http://gateway');
          for (const name of ['variables', 'extensions']) {
            const text = searchParams.get(name);
            if (text && !isJsonObject(text))
              throw new ApiError('badDocument', { reason: `${name} must be a JSON object.` });
          }
        }
      } catch (error) {
        const shown = format(error as Error, exchange);
        return send(response, toApiError(error).error.status, JSON_TYPE, { errors: [shown] });
      }
      await yoga.handle(request, response, { exchange });
    }
  };
}

function isJsonObject(text: string): boolean {
  try {
    parseStrictly(Buffer.from(text));
    return true;
  } catch {
    return false;
  }
}

/** A POST of JSON that wants JSON back: nothing here needs more than the short path does. */
function isPlainPost({ method, headers, url }: IncomingMessage): boolean {
  if (method !== 'POST' || url !== '/graphql') return false;
  const accept = headers.accept ?? '*/*';
  return (
    /^application\/json\b/i.test(headers['content-type'] ?? '') &&
    /application\/(graphql-response\+)?json|\*\/\*/i.test(accept) &&
    !/event-stream|multipart/i.test(accept)
  );
}

/** GraphQL over HTTP, section 5.2: the members of a request. */
function readRequest({ query, variables, operationName, extensions }: Record<string, unknown>): Request {
  const wrong = (member: string, reason: string) => new ApiError('wrongValue', { member, reason });
  const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (typeof query !== 'string') throw wrong('query', 'it must be a GraphQL document');
  if (variables !== undefined && variables !== null && !isMap(variables))
    throw wrong('variables', 'it must be an object');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string')
    throw wrong('operationName', 'it must be a string');
  if (extensions !== undefined && extensions !== null && !isMap(extensions))
    throw wrong('extensions', 'it must be an object');
  return {
    query,
    variables: (variables ?? {}) as Record<string, unknown>,
    operationName: (operationName as string | null) ?? null,
  };
}

function send(response: ServerResponse, status: number, type: string, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
  });
  response.end(text);
}

async function* eachFormatted(
  results: AsyncIterable<ExecutionResult>,
  exchange: Exchange,
): AsyncGenerator<ExecutionResult> {
  for await (const result of results)
    yield result.errors ? { ...result, errors: formatAll(result.errors, exchange) } : result;
}

/** For Yoga, which takes the status and headers of an answer from `extensions.http` of its errors. */
function formatAll(errors: readonly GraphQLError[], exchange: Exchange): GraphQLError[] {
  return errors.map((error) => {
    const { message, extensions } = format(error, exchange);
    const status = Number(extensions?.status);
    // What is wrong with the request itself has a status; `spec` leaves 200 to the older media type.
    const http = error.extensions.http ?? (error.path ? undefined : { status, spec: status === 400 });
    const { nodes, source, positions, path } = error;
    return new GraphQLError(message, { nodes, source, positions, path, extensions: { ...extensions, http } });
  });
}

interface YogaContext {
  gateway: Context;
}

type ServerContext = { exchange: Exchange };

function makeYoga(schema: GraphQLSchema, admit: Admit) {
  const sameChecks: Plugin<YogaContext & ServerContext, ServerContext> = {
    onParse: ({ setParseFn }) => setParseFn((source: string) => parseDocument(source)),
    onValidate: ({ setValidationFn }) =>
      setValidationFn((validated, document) => validateDocument(validated, document) as GraphQLError[]),
    onExecute: ({ args, setExecuteFn }) =>
      setExecuteFn(async () => {
        const { gateway } = args.contextValue;
        const document: DocumentNode = args.document;
        const definition = getOperationAST(document, args.operationName);
        if (!definition) throw new ApiError('badDocument', { reason: 'say with operationName which operation to run' });
        const operation = prepareOperation(schema, document, definition);
        return runOperation(operation, args.variableValues ?? {}, gateway, graphqlDoor).catch((error) => ({
          errors: [error],
        }));
      }),
    onSubscribe: ({ args, setSubscribeFn }) =>
      setSubscribeFn(async () => {
        const { gateway, exchange } = args.contextValue;
        const results = await subscribe({ ...args, contextValue: gateway });
        return Symbol.asyncIterator in results ? eachFormatted(results, exchange) : results;
      }),
    onResultProcess: ({ result, setResult, serverContext }) => {
      if (Array.isArray(result) || !('errors' in result) || !result.errors) return;
      const { errors, ...rest } = result;
      setResult({ errors: formatAll(errors, serverContext.exchange), ...rest });
    },
  };
  return createYoga<ServerContext, YogaContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    batching: false,
    multipart: false,
    cors: false,
    logging: false,
    graphiql: {
      title: 'Tunnel Gateway',
      headers: JSON.stringify({ Authorization: 'Bearer <API key>' }),
      subscriptionsProtocol: 'SSE',
      defaultQuery: WELCOME,
    },
    // The page is 9 MB of text: it is loaded when somebody first opens it.
    renderGraphiQL: async (options) => (await import('@graphql-yoga/render-graphiql')).renderGraphiQL(options),
    context: async ({ exchange }) => ({ gateway: await admit(exchange) }) as YogaContext & ServerContext,
    maskedErrors: false, // `format` does it, and knows the operation id.
    plugins: [sameChecks],
  });
}
