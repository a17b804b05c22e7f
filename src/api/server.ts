// The API listener: what every request gets, and which door it goes through.

import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import cors from 'cors';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { newId } from '../store/ids.ts';
import { admission } from './admission.ts';
import type { Hearing } from './auth.ts';
import type { App } from './context.ts';
import { Documents } from './documents.ts';
import { graphqlHandler } from './graphql.ts';
import { baseUrlOf, type Exchange, sendError } from './http.ts';
import type { ApiMetrics } from './metrics.ts';
import { openApiOf } from './openapi.ts';
import { requestLog } from './request-log.ts';
import { prepareRow, restApp } from './rest.ts';
import { rootOf } from './root.ts';
import type { Route } from './route.ts';

const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 30_000;

export interface Api {
  server: Server;
  /** From now on, answers end their connections. */
  drain(): void;
  /** Forgets which API keys were accepted: something may have been missed. */
  forget(): void;
}

export interface ApiOptions {
  app: App;
  schema: GraphQLSchema;
  routes: Route[];
  log: Logger;
  metrics: ApiMetrics;
  hearing: Hearing;
  /** Sends every GraphQL request the long way: the tests of the API run once more so. */
  onlyYoga?: boolean;
}

export function createApi({ app, schema, routes, log, metrics, hearing, onlyYoga }: ApiOptions): Api {
  const { config } = app;
  const { toRest, toGraphql, forget } = admission(app, hearing);
  const rows = routes.map((row) => prepareRow(schema, row));
  const rest = restApp(rows, { '/': rootOf(rows), '/openapi.json': openApiOf(schema, rows) }, toRest);
  const graphql = graphqlHandler(schema, new Documents(schema), toGraphql, onlyYoga);
  const allowOrigin = corsFor(config.corsOrigins);
  const report = requestLog(log, metrics);
  let draining = false;

  // Express changes the prototype of each request and response, which slows all later use of them, unless they have
  // the right one from the beginning.
  const made = {
    IncomingMessage: withPrototype(IncomingMessage, rest.request),
    ServerResponse: withPrototype(ServerResponse, rest.response),
  };
  const server = createServer(made, (request, response) => {
    const started = performance.now();
    const operationId = newId('op');
    const exchange: Exchange = { request, response, operationId, baseUrl: baseUrlOf(config, request), seen: {} };
    response.setHeader('Service-Operation-Id', operationId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (draining) response.setHeader('Connection', 'close');
    response.once('close', () => {
      report(exchange, performance.now() - started);
      // An answer that was under way when the drain began did not say that it is the last one.
      if (draining) setImmediate(() => server.closeIdleConnections());
    });

    allowOrigin(request, response, () => {
      const path = request.url?.split('?', 1)[0];
      if (path === '/graphql') graphql(exchange).catch((error) => sendError(exchange, error));
      else rest(request as never, Object.assign(response, { locals: { exchange } }) as never);
    });
  });
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;

  return {
    server,
    drain() {
      draining = true;
      server.closeIdleConnections();
    },
    forget,
  };
}

type Middleware = (request: Parameters<ReturnType<typeof cors>>[0], response: object, next: () => void) => void;

/** Answers preflights and names the origins that may read answers; without any configured it does nothing. */
function corsFor(origins: string[]): Middleware {
  if (origins.length === 0) return (_request, _response, next) => next();
  const handle = cors({
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'Service-Operation-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
    ],
    maxAge: 600,
  });
  return (request, response, next) => handle(request, response as never, next);
}

/** A class whose instances have another prototype, which must inherit from the class's own. */
function withPrototype<Made extends new (...args: never[]) => object>(base: Made, prototype: object): Made {
  function Instance(this: object, ...args: unknown[]) {
    (base as unknown as (...args: unknown[]) => void).apply(this, args); // Node's own are functions still.
  }
  Instance.prototype = prototype;
  return Instance as unknown as Made;
}
