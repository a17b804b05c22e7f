// Which requests may become WebSockets, and what the others are told.

import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/errors.ts';
import type { ApiExchange } from '../exchange.ts';
import { isOfSameOrigin } from '../sign-in/dashboard-request.ts';
import { hasBody } from './request-body.ts';

/** What is spoken: the protocol of the library graphql-ws. */
export const SUBPROTOCOL = 'graphql-transport-ws';
const PATH = '/graphql';
const VERSION = '13';

const UPGRADE = Symbol('what the parser says of an upgrade');

/**
 * Lets Node see an upgrade only in requests that we can answer with a WebSocket. All others are served as if they did not ask (RFC
 * 9110, section 7.8): Java's HTTP client offers `h2c` with each request, Apache's TLS.
 * @param prototype of the requests of a server. Node asks for their member `upgrade` when their head is read.
 */
export function limitUpgrades(prototype: object): void {
  Object.defineProperty(prototype, 'upgrade', {
    configurable: true,
    get(this: IncomingMessage & { [UPGRADE]?: boolean }) {
      return this[UPGRADE] === true && (this.method === 'CONNECT' || webSocketRefusal(this) === undefined);
    },
    set(this: { [UPGRADE]?: boolean }, value: unknown) {
      if (value) this[UPGRADE] = true;
    },
  });
}

/** Whether a request asks for a WebSocket, of whatever kind. */
export function asksForWebSocket({ headers: { upgrade, connection } }: IncomingMessage): boolean {
  return upgrade !== undefined && /\bwebsocket\b/i.test(upgrade) && /\bupgrade\b/i.test(connection ?? '');
}

/** Why a request cannot become a WebSocket; undefined when it can. */
export function webSocketRefusal(request: IncomingMessage): ApiError | undefined {
  const { method, headers, url = '' } = request;
  if (url.split('?', 1)[0] !== PATH) return new ApiError('webSocketElsewhere', { path: PATH, protocol: SUBPROTOCOL });
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const isHandshake =
    method === 'GET' &&
    asksForWebSocket(request) &&
    headers['sec-websocket-version'] === VERSION &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '') &&
    !hasBody(request);
  if (isHandshake && offered.includes(SUBPROTOCOL)) return undefined;
  return handshakeRefusal();
}

/** The error for a request that asks for a WebSocket in a form that we do not speak. */
export function handshakeRefusal(): ApiError {
  return new ApiError('webSocketHandshake', { protocol: SUBPROTOCOL, version: VERSION });
}

/**
 * Browsers let every page open a WebSocket to anywhere, with the cookies of there: the server has to look where a page is from.
 * @param allowed the origins that may read answers of the API.
 * @returns why a page of this origin may not; undefined when it may, or no page asks.
 */
export function originRefusal(exchange: ApiExchange, allowed: readonly string[]): ApiError | undefined {
  const { origin, host } = exchange.request.headers;
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return undefined;
  // What is of this host by its own words has no cookie, or is asked for more before that counts.
  const isOfThisHost = URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
  return isOfThisHost || isOfSameOrigin(exchange) ? undefined : new ApiError('originNotAllowed', { origin });
}
