// The HTTP server of the local API: access control, routing and errors.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DetailError } from '../detail-error.ts';
import type { Log } from '../log.ts';
import { ConfigError } from '../settings/config.ts';
import type { HostAddress } from '../settings/host-address.ts';
import { type AccessSettings, checkHostAndOrigin, checkToken } from './access.ts';
import { type ApiResponse, detailResponse, sendResponse } from './responses.ts';
import type { ApiRoute } from './routes.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTIONS_MAX = 256;

/** Starts to listen. Requests are answered after `serveApi`. @throws {ConfigError} when it cannot listen on the address. */
export async function listenForApi({ host, port }: HostAddress): Promise<{ server: Server; address: HostAddress }> {
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => reject(new ConfigError(`AGENT_API_ADDR cannot be had: ${error.message}`));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve();
    });
  });
  return { server, address: { host, port: (server.address() as AddressInfo).port } };
}

/** Answers requests. @param onResponse called with the status of each response. */
export function serveApi(
  server: Server,
  routes: ApiRoute[],
  access: AccessSettings,
  log: Log,
  onResponse: (status: number) => void,
): void {
  server.on('request', (request, response) => {
    void handleRequest(request, routes, access, log).then((result) => {
      onResponse(result.status);
      log('debug', 'answered', { method: request.method, path: request.url, status: result.status });
      sendResponse(request, response, result);
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
    const body = JSON.stringify({ detail: 'This is not a request that can be read.' });
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
}

/** Closes the server. Open requests get `grace` milliseconds to complete. */
export async function closeServer(server: Server, grace: number): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), grace);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(timer);
}

async function handleRequest(
  request: IncomingMessage,
  routes: ApiRoute[],
  access: AccessSettings,
  log: Log,
): Promise<ApiResponse> {
  try {
    const path = (request.url ?? '').replace(/\?.*$/s, '');
    const matching = routes.filter((route) => route.path.test(path));
    const forbidden = checkHostAndOrigin(request, access);
    if (forbidden) return forbidden;
    const unauthorized = matching.some(({ isPublic }) => isPublic) ? undefined : checkToken(request, access);
    if (unauthorized) return unauthorized;
    if (matching.length === 0) return detailResponse(404, 'Not Found');
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = matching.find((each) => each.method === method);
    if (!route)
      return detailResponse(405, 'Method Not Allowed', { allow: matching.flatMap(allowedMethods).join(', ') });
    return await route.handle(request, decode(route.path.exec(path)?.[1] ?? ''));
  } catch (error) {
    if (error instanceof DetailError) return detailResponse(error.status, error.message);
    log('error', 'a request failed', { path: request.url, reason: (error as Error).stack });
    return detailResponse(500, 'Something went wrong here; the log says what.');
  }
}

const allowedMethods = ({ method }: ApiRoute) => (method === 'GET' ? ['GET', 'HEAD'] : [method]);

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new DetailError(400, 'The path must be percent-encoded UTF-8.');
  }
}
