// What tells requests of the dashboard’s own pages from those that other sites make a browser send.

import type { IncomingMessage } from 'node:http';
import type { ApiExchange } from '../exchange.ts';

/** What pages send that have no secret, or not yet. */
const NO_SECRET = '1';

/**
 * Whether a page of our own sent a request: only such a page can set this header without being asked first (which is
 * then refused), and browsers say themselves where a request is from.
 * @param methods those that the page uses for this.
 */
export function isFromDashboard(exchange: ApiExchange, methods: readonly string[] = ['POST']): boolean {
  const { method = '', headers } = exchange.request;
  return methods.includes(method) && headers['gateway-dashboard'] !== undefined && isOfSameOrigin(exchange);
}

/**
 * The secret of the browser session that the page keeps; '' when it sends none. Unlike the cookie it belongs to the
 * page's origin with its port (RFC 6265, section 8.5: cookies do not), so that no other server on this host gets it.
 */
export function pageSecretIn({ headers }: IncomingMessage): string {
  const sent = String(headers['gateway-dashboard'] ?? '');
  return sent === NO_SECRET ? '' : sent;
}

/** Whether a request is of a page of our own origin, as its browser says. */
export function isOfSameOrigin({ request: { headers }, isSecure, baseUrl }: ApiExchange): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const own = [`${isSecure ? 'https' : 'http'}://${headers.host?.toLowerCase()}`, new URL(baseUrl).origin];
  return headers.origin !== undefined && own.includes(headers.origin);
}
