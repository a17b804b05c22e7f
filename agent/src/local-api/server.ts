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

/** The time after which an address that another program has is tried again; milliseconds. */
const RETRY_MS = 5_000;
/** What passes: another program ends, or an interface comes up. */
const PASSING_FAILURES = ['EADDRINUSE', 'EADDRNOTAVAIL'];

/** The local API. */
export interface LocalApi {
  /** The address that it has, or waits for. */
  readonly address: HostAddress;
  /** Answers requests from now on. @param onResponse called with the status of each response. */
  serve(routes: ApiRoute[], access: AccessSettings, onResponse: (status: number) => void): void;
  /** Open requests get `grace` milliseconds to complete. */
  close(grace: number): Promise<void>;
}

/**
 * Opens the local API. An address that another program has is waited for, as the tunnels of a device do not need it.
 * @param onListening called once it listens and answers.
 * @throws {ConfigError} when it cannot listen on the address for a reason that does not pass.
 */
export async function openApi(
  { host, port }: HostAddress,
  log: Log,
  onListening: (address: HostAddress) => void,
): Promise<LocalApi> {
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS });
  server.maxConnections = CONNECTIONS_MAX;
  let retry: NodeJS.Timeout | undefined;
  let isServed = false;
  let isClosed = false;
  const current = () => ({ host, port: (server.address() as AddressInfo | null)?.port ?? port });
  const failure = await listen(server, port, host);
  if (failure && !PASSING_FAILURES.includes(failure.code ?? ''))
    throw new ConfigError(`AGENT_API_ADDR cannot be had: ${failure.message}`);
  if (failure) {
    log('error', 'the local API waits for its address; tunnels do not need it', { reason: failure.message });
    waitForAddress();
  }

  function waitForAddress(): void {
    retry = setTimeout(async () => {
      const failed = await listen(server, port, host);
      if (isClosed) server.close();
      else if (failed) waitForAddress();
      else if (isServed) onListening(current());
    }, RETRY_MS).unref();
  }

  return {
    get address() {
      return current();
    },
    serve(routes, access, onResponse) {
      serveApi(server, routes, access, log, onResponse);
      isServed = true;
      if (server.listening) onListening(current());
    },
    async close(grace) {
      isClosed = true;
      clearTimeout(retry);
      if (server.listening) await closeServer(server, grace);
    },
  };
}

/** @returns why it cannot listen; undefined when it does. */
function listen(server: Server, port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const fail = (error: Error) => {
      server.off('listening', succeed);
      resolve(error);
    };
    const succeed = () => {
      server.off('error', fail);
      resolve(undefined);
    };
    server.once('error', fail).once('listening', succeed);
    server.listen(port, host);
  });
}

function serveApi(
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

/** Open requests get `grace` milliseconds to complete. */
async function closeServer(server: Server, grace: number): Promise<void> {
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
