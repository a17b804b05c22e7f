// The responses of the local API.

import type { IncomingMessage, ServerResponse } from 'node:http';

/** A response of the local API. */
export interface ApiResponse {
  status: number;
  /** An object or a list is sent as JSON, a string as plain text. */
  body: object | string;
  headers?: Record<string, string>;
}

/** A response with the body `{"detail": text}`. */
export const detailResponse = (status: number, text: string, headers: Record<string, string> = {}): ApiResponse => ({
  status,
  body: { detail: text },
  headers,
});

const PLAIN = 'text/plain; version=0.0.4; charset=utf-8';

/** Sends a response. The connection is closed after it when the request's body was not read. */
export function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: ApiResponse,
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': typeof body === 'string' ? PLAIN : 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(request.complete ? {} : { connection: 'close' }),
    ...headers,
  });
  response.end(text);
}
