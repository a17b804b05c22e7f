// The GraphQL door. A plain query or mutation by POST takes a short path; everything else (GraphiQL, GET, server-sent
// events) is Yoga's. Both use the same documents, limits, variables, execution and error format.

import type { IncomingMessage } from 'node:http';
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { Context } from '../context.ts';
import { ApiError, toApiError } from '../errors.ts';
import type { ApiExchange } from '../exchange.ts';
import type { Admit } from '../http/admission.ts';
import { sendStored } from '../http/cached-body.ts';
import { checkContentType, parseStrictly, readBody } from '../http/request-body.ts';
import { type Documents, ownerOf } from './documents.ts';
import { formatError } from './errors.ts';
import { graphqlInput } from './input.ts';
import { checkDocument, namedText, type PersistedDocuments } from './persisted-operations.ts';
import { runOperation } from './run-operation.ts';
import { makeYoga } from './yoga.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';

interface Request {
  /** The document, also of a request that names it by its digest. */
  query: string;
  variables: Record<string, unknown>;
  operationName: string | null;
}

export type GraphQLHandler = (exchange: ApiExchange) => Promise<void>;

export interface GraphQLHandlerOptions {
  schema: GraphQLSchema;
  documents: Documents;
  /** Those that a request may name in place of sending one. */
  persisted: PersistedDocuments;
  admit: Admit;
  onlyYoga: boolean;
}

export function graphqlHandler({
  schema,
  documents,
  persisted,
  admit,
  onlyYoga,
}: GraphQLHandlerOptions): GraphQLHandler {
  const yoga = makeYoga(schema, documents);
  return async (exchange) => {
    const { request, response } = exchange;
    if (!onlyYoga && isPlainPost(request)) return shortPath(exchange);
    return handOver(exchange);

    async function shortPath(exchange: ApiExchange): Promise<void> {
      const type = /graphql-response\+json/i.test(request.headers.accept ?? '') ? RESPONSE_TYPE : JSON_TYPE;
      // A request error under the newer type has a status of its own; the older one keeps 200 for what is well formed.
      const badRequest = type === RESPONSE_TYPE ? 400 : 200;
      try {
        const body = await readBody(request);
        const context = await admit(exchange);
        const { query, variables, operationName } = readRequest(parseStrictly(body), persisted, exchange);
        checkDocument(context, exchange);
        const read = documents.read(query, ownerOf(context, exchange));
        if ('errors' in read)
          return send(exchange, badRequest, type, {
            errors: read.errors.map((error) => formatError(error, exchange)),
          });
        if ('introspection' in read)
          return sendStored(response, { ...(await read.introspection.stored), type }, 'no-store');
        const operation = documents.operation(read.known, operationName);
        exchange.log.operation = operation.definition.name?.value ?? operation.definition.operation;
        if (operation.definition.operation === 'subscription') return handOver(exchange, { body, context });
        const result = await runOperation(operation, variables, context, graphqlInput).catch(
          (error) => ({ errors: [error] }) as ExecutionResult,
        );
        const { data, errors } = result;
        const status = data === undefined ? badRequest : 200;
        send(
          exchange,
          status,
          type,
          errors ? { errors: errors.map((error) => formatError(error, exchange)), data } : result,
          !operation.holdsSecrets,
        );
      } catch (error) {
        const shown = formatError(error as Error, exchange);
        send(exchange, toApiError(error).error.status, type, { errors: [shown] });
      }
    }

    async function handOver(exchange: ApiExchange, begun?: { body: Buffer; context: Context }): Promise<void> {
      let gateway = begun?.context;
      try {
        if (request.method === 'POST') {
          checkContentType(request);
          const bytes = begun?.body ?? (await readBody(request));
          const named = parseStrictly(bytes);
          const { query } = readRequest(named, persisted, exchange);
          // Yoga knows nothing of names.
          const text = exchange.isPersisted
            ? JSON.stringify({ ...named, query, documentId: undefined })
            : bytes.toString();
          Object.assign(request, { body: text });
          gateway ??= await admit(exchange);
          checkDocument(gateway, exchange);
        } else {
          const { searchParams } = new URL(request.url ?? '', 'http://gateway');
          for (const name of ['variables', 'extensions']) {
            const text = searchParams.get(name);
            if (text && !isJsonObject(text))
              throw new ApiError('badDocument', { reason: `${name} must be a JSON object.` });
          }
          // Without a document it is GraphiQL's page that is asked for, or a mistake.
          if (searchParams.has('query')) {
            gateway = await admit(exchange);
            checkDocument(gateway, exchange);
          }
        }
      } catch (error) {
        const shown = formatError(error as Error, exchange);
        return send(exchange, toApiError(error).error.status, JSON_TYPE, { errors: [shown] });
      }
      await yoga.handle(request, response, { exchange, gateway });
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

/** GraphQL over HTTP, section 5.2: the members of a request. Notes whether it names a persisted document. */
function readRequest(body: Record<string, unknown>, persisted: PersistedDocuments, exchange: ApiExchange): Request {
  const { query: sent, documentId, variables, operationName, extensions } = body;
  const wrong = (member: string, reason: string) => new ApiError('wrongValue', { member, reason });
  const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  exchange.isPersisted = documentId !== undefined && documentId !== null;
  if (exchange.isPersisted && sent !== undefined && sent !== null)
    throw wrong('documentId', 'send it or query, not both');
  const query = exchange.isPersisted ? namedText(persisted, documentId) : sent;
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

function send(
  { response, body: writer }: ApiExchange,
  status: number,
  type: string,
  body: unknown,
  mayCompress?: boolean,
): void {
  writer.send(response, status, type, JSON.stringify(body), mayCompress);
}
