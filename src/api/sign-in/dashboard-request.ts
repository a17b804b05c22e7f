// What tells requests of the dashboard’s own pages from those that other sites make a browser send.

import type { Exchange } from '../http.ts';

/**
 * Whether a page of our own sent a request: only such a page can set this header without being asked first (which is
 * then refused), and browsers say themselves where a request is from.
 */
export function isFromDashboard(exchange: Exchange): boolean {
  const { method, headers } = exchange.request;
  return method === 'POST' && headers['gateway-dashboard'] === '1' && isOfSameOrigin(exchange);
}

function isOfSameOrigin({ request: { headers }, isSecure, baseUrl }: Exchange): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const own = [`${isSecure ? 'https' : 'http'}://${headers.host?.toLowerCase()}`, new URL(baseUrl).origin];
  return headers.origin !== undefined && own.includes(headers.origin);
}
