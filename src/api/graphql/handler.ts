// GraphQL over HTTP. Requests and responses are framed here; what is between them is done by the engine. A plain query or
// mutation by POST is framed by our own code, which costs half of what Yoga's adapter does; GET and streams of events are
// framed by the adapter.

import type { IncomingMessage } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Context } from '../context.ts';
import { ApiError, toApiError } from '../errors/errors.ts';
import type { ApiExchange } from '../exchange.ts';
import type { Admit } from '../http/admission.ts';
import { sendCached } from '../http/cached-body.ts';
import { checkContentType, parseStrictly, readBody } from '../http/request-body.ts';
import type { OperationDeps } from './connection-operations.ts';
import { isOfSingleConnection, SingleConnections } from './event-streams/single-connection.ts';
import { checkAccept } from './media-types.ts';
import { errorToJson, type HttpExtension, maskError } from './plugins/errors.ts';
import type { RequestContext, RequestParams } from './request-context.ts';
import { namesDocument, readParams } from './request-params.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';

export type GraphQLHandler = (exchange: ApiExchange) => Promise<void>;

export interface GraphQLHandlerOptions extends OperationDeps {
  admit: Admit;
  /** Lets Yoga's adapter frame every request. */
  onlyYoga: boolean;
}

export function graphqlHandler({ engine, admit, onlyYoga, app, logRequest }: GraphQLHandlerOptions): GraphQLHandler {
  const single = new SingleConnections({ app, engine, logRequest }, admit);
  async function serveSingle(exchange: ApiExchange, type: string): Promise<void> {
    const { request } = exchange;
    if (request.method === 'PUT') return single.reserve(exchange);
    if (request.method === 'DELETE') return single.end(exchange);
    if (request.method === 'GET') return single.open(exchange);
    checkContentType(request);
    const errors = await single.run(exchange, readParams(parseBody(await readBody(request))));
    if (errors) send(exchange, statusOf(errors, type), type, { errors: errors.map(errorToJson) });
    else send(exchange, 202, type, {});
  }

  return async (exchange) => {
    const type = responseType(exchange.request);
    if (exchange.request.method !== 'POST') exchange.response.appendHeader('Vary', 'Accept');
    try {
      if (isOfSingleConnection(exchange)) return await serveSingle(exchange, type);
      checkAccept(exchange.request.headers);
      const { gateway, sent } = await readRequest(exchange, admit);
      const hasAdapter = onlyYoga || !isPlainPost(exchange.request);
      const context: RequestContext = { exchange, gateway, sent, hasAdapter };
      if (hasAdapter || !sent) return await engine.serve(context);
      const result = (await engine.run(sent, context)) as ExecutionResult; // Only the adapter gets streams.
      if (context.needsAdapter) return await engine.serve({ exchange, gateway, sent, hasAdapter: true });
      const { read, operation } = context;
      if (read && 'introspection' in read)
        return sendCached(exchange.response, { ...(await read.introspection.cachedBody), type }, 'no-store');
      const { data, errors, extensions } = result;
      const body = errors ? { errors: errors.map(errorToJson), data, extensions } : result;
      const mayCompress = operation !== undefined && !operation.holdsSecrets;
      send(exchange, data === undefined ? statusOf(errors, type) : 200, type, body, mayCompress);
    } catch (error) {
      const shown = errorToJson(maskError(error as Error, exchange));
      send(exchange, toApiError(error).error.status, type, { errors: [shown] });
    }
  };
}

/** Reads a request and finds out who sends it. @throws {ApiError} when it can be no request for an operation. */
async function readRequest(
  exchange: ApiExchange,
  admit: Admit,
): Promise<{ gateway: Context | undefined; sent: RequestParams | undefined }> {
  const { request } = exchange;
  if (request.method === 'POST') {
    checkContentType(request);
    const body = await readBody(request);
    const gateway = await admit(exchange);
    return { gateway, sent: readParams(parseBody(body)) };
  }
  const { searchParams } = new URL(request.url ?? '', 'http://gateway');
  for (const name of ['variables', 'extensions']) {
    const text = searchParams.get(name);
    if (text && !isJsonObject(text)) throw new ApiError('badDocument', { reason: `${name} must be a JSON object.` });
  }
  // Without a document it is a mistake, which Yoga explains.
  const hasDocument = searchParams.has('query') || namesDocument(JSON.parse(searchParams.get('extensions') || '{}'));
  return { gateway: hasDocument ? await admit(exchange) : undefined, sent: undefined };
}

/** @throws {ApiError} when it is no object; of a list, that there are no batches. */
function parseBody(body: Buffer): Record<string, unknown> {
  try {
    return parseStrictly(body);
  } catch (error) {
    throw /^\s*\[[\s\S]*\]\s*$/.test(body.toString('latin1')) ? new ApiError('batchedOperations') : error;
  }
}

function isJsonObject(text: string): boolean {
  try {
    parseStrictly(Buffer.from(text));
    return true;
  } catch {
    return false;
  }
}

/** Whether a POST wants JSON back, and no stream. */
function isPlainPost({ method, headers, url }: IncomingMessage): boolean {
  if (method !== 'POST' || url !== '/graphql') return false;
  const accept = headers.accept ?? '*/*';
  return /application\/(graphql-response\+)?json|\*\/\*/i.test(accept) && !/event-stream|multipart/i.test(accept);
}

function responseType({ headers }: IncomingMessage): string {
  return /graphql-response\+json/i.test(headers.accept ?? '') ? RESPONSE_TYPE : JSON_TYPE;
}

/** The status of a response without data. The older media type keeps 200 for requests that are well formed. */
function statusOf(errors: ExecutionResult['errors'], type: string): number {
  const http = errors?.[0]?.extensions.http as HttpExtension | undefined;
  if (http && http.spec === undefined) return http.status;
  return type === RESPONSE_TYPE ? 400 : 200;
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
