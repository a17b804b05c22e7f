// Requests for a request log, without visitors.

import { RequestHead } from '../../src/edge/codec/request-head.ts';
import { LoggedRequest, type RequestLogger } from '../../src/edge/reports/logged-request.ts';
import type { ConnectionInfo } from '../../src/edge/visitors/connection-info.ts';
import type { LiveEndpoint } from '../../src/tunnel/endpoints/endpoint.ts';

const head = new RequestHead();
const connection = { visitor: { ip: '192.0.2.1' } } as ConnectionInfo; // Of a connection and an endpoint no more is looked at.

/** Logs a request that was answered with 200. @param at the wall clock, in milliseconds. */
export function logRequestTo(
  log: RequestLogger,
  { id, accountId }: Pick<LiveEndpoint, 'id' | 'accountId'>,
  path = '/',
  at = Date.now(),
): void {
  head.read(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: app.test\r\nUser-Agent: test\r\n\r\n`), 0);
  const endpoint = { id, accountId, port: 80 } as LiveEndpoint;
  const origin = { scheme: 'http', connection, isHttp2: false } as const;
  const request = new LoggedRequest(log, endpoint, head, origin, { at, now: log.now() });
  request.answered(200);
  request.finish(true, 0, 0);
}
