// The Express application of the documented paths.

import express, { type Express } from 'express';
import type { GraphQLSchema } from 'graphql';
import { ApiError } from '../errors.ts';
import type { ApiExchange } from '../exchange.ts';
import type { Admit } from '../http/admission.ts';
import { sendError, sendJson } from '../http/responses.ts';
import { runRow } from './handler.ts';
import { serveOpenApi } from './openapi.ts';
import type { Row } from './rows.ts';

/** The collections of the API by name, and where each is: `{ uri, subresource_uris }`. */
function rootOf(rows: Row[]): (exchange: ApiExchange) => void {
  const lists = rows.filter(
    ({ method, path, selection }) => method === 'GET' && !path.includes(':') && selection.includes(': nodes'),
  );
  return (exchange) => {
    const { baseUrl } = exchange;
    const uris = lists.map(({ path }) => [path.slice(1).replaceAll('/', '_'), baseUrl + path]);
    sendJson(exchange, 200, { uri: `${baseUrl}/`, subresource_uris: Object.fromEntries(uris) });
  };
}

export function restApp(schema: GraphQLSchema, rows: Row[], admit: Admit): Express {
  /** Documents about the API itself, by path; they need no API key. */
  const documents = { '/': rootOf(rows), '/openapi.json': serveOpenApi(schema, rows) };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');

  for (const [path, answer] of Object.entries(documents)) {
    app.all(path, (request, response) => {
      const { exchange } = response.locals as { exchange: ApiExchange };
      if (!isAllowed(request.method, ['GET'], exchange)) return;
      answer(exchange);
    });
  }
  for (const path of new Set(rows.map((row) => row.path))) {
    const ofPath = rows.filter((row) => row.path === path);
    const byMethod = new Map<string, Row>(ofPath.map((row) => [row.method, row]));
    app.all(path, (request, response) => {
      const { exchange } = response.locals as { exchange: ApiExchange };
      const row = byMethod.get(request.method === 'HEAD' ? 'GET' : request.method);
      if (!isAllowed(request.method, [...byMethod.keys()], exchange) || !row) return;
      exchange.log.operation = row.field;
      runRow(row, request.params as Record<string, string>, exchange, admit).catch((error) =>
        sendError(exchange, error),
      );
    });
  }
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
  exchange.response.setHeader('Allow', all.join(', '));
  if (method === 'OPTIONS') exchange.response.writeHead(204).end();
  else sendError(exchange, new ApiError('methodNotAllowed', { method, allowed: all.join(', ') }));
  return false;
}
