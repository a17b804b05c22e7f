// What visitors and upstreams say to each other in tests of HTTP/1, and an upstream behind `app.test`.

import { type VisitorError, visitorErrors } from '../../../src/http/visitor-errors.ts';
import { type Edge, startScript } from './support.ts';

export const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n';
export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
/** The fields about the visitor, which end the head that upstream gets. */
export const VISITOR = 'X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: app.test\r\n\r\n';
/** What upstream gets of `GET`. */
export const FORWARDED = `GET / HTTP/1.1\r\nHost: app.test\r\n${VISITOR}`;

/** An upstream behind `app.test` that the test plays. */
export async function startApp(edge: Edge) {
  const script = await startScript();
  return { ...script, endpoint: edge.serve('app.test', script.port) };
}

/** The response that shows an error to programs. */
export function errorResponseOf(error: VisitorError, connection: 'close' | 'keep-alive'): RegExp {
  const { number, status, text, retryAfter } = visitorErrors[error];
  const body = `ERR_GATEWAY_${number}: ${text}\n`;
  return new RegExp(
    [
      `^HTTP/1\\.1 ${status} [A-Za-z -]+`,
      'Date: [^\r]+ GMT',
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${body.length}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      `Gateway-Error-Code: ERR_GATEWAY_${number}`,
      ...(retryAfter ? [`Retry-After: ${retryAfter}`] : []),
      `Connection: ${connection}`,
      '',
      `${body.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`,
    ].join('\r\n'),
  );
}
