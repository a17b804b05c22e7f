// What the local API answers with, and how that is written.

import type { IncomingMessage, ServerResponse } from 'node:http';

export interface ApiResponse {
  status: number;
  /** An object or list becomes JSON; a text is sent as it is. */
  body: object | string;
  headers?: Record<string, string>;
}

export const detailResponse = (status: number, text: string, headers: Record<string, string> = {}): ApiResponse => ({
  status,
  body: { detail: text },
  headers,
});

const PLAIN = 'text/plain; version=0.0.4; charset=utf-8';

/** Sends it; the connection does not outlive a body of the request that was not read. */
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
