// What a request says about how its visitor can be asked to sign in.

import { acceptsHtml } from '../../http/error-response.ts';
import type { HttpExchange, HttpRequest } from '../../http/exchange.ts';
import { SIGN_IN_PATH } from '../../http/visitor-errors.ts';
import type { SignInPlace } from '../../http/visitor-sessions.ts';
import { FOREIGN_NAMESPACE } from '../../tunnel/control/compatibility.ts';

/** The paths at each endpoint that are the gateway's own, besides that of log-ins. */
export const SIGN_OUT_PATH = '/_gateway/logout';
export const FINISH_PATH = '/_gateway/oauth2/finish';

const OWN_PATHS: Readonly<Record<string, 'login' | 'logout' | 'finish'>> = {
  [SIGN_IN_PATH]: 'login',
  [SIGN_OUT_PATH]: 'logout',
  [FINISH_PATH]: 'finish',
  [`/${FOREIGN_NAMESPACE}/login`]: 'login',
  [`/${FOREIGN_NAMESPACE}/logout`]: 'logout',
};

/** The longest path that a visitor is sent back to, in bytes; others come to `/`. It is in a cookie, which may have 4 KiB. */
const PATH_MAX = 1024;
const USER_AGENT_MAX = 512;
const DEFAULT_PORTS = { http: 80, https: 443 } as const;
const LOCAL_HOST = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** Which of the gateway's own paths a request is for; undefined: none. */
export function ownPathOf(target: string): 'login' | 'logout' | 'finish' | undefined {
  if (!target.startsWith('/_gateway/') && !target.startsWith(`/${FOREIGN_NAMESPACE}/`)) return undefined;
  const path = target.replace(/\?.*/s, '');
  return Object.hasOwn(OWN_PATHS, path) ? OWN_PATHS[path] : undefined;
}

/**
 * Whether a browser opens a page of its own with it, which can be sent elsewhere. An image, a script or `fetch` cannot sign in, and
 * each would begin a log-in.
 */
export function isNavigation({ method, fields }: HttpRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (fields.has('upgrade') || /websocket/i.test(fields.get('sec-fetch-mode') ?? '')) return false;
  const destination = fields.get('sec-fetch-dest');
  return destination === undefined ? acceptsHtml(fields.all('accept').join()) : destination === 'document';
}

/** Whether it is a preflight of CORS (Fetch, section 3.2.2), which browsers send without cookies. */
export function isPreflight({ method, fields }: HttpRequest): boolean {
  return method === 'OPTIONS' && fields.has('origin') && fields.has('access-control-request-method');
}

/**
 * Who made the browser send it (Fetch Metadata, section 2.3): a page of this origin or the visitor, a page of another one, which may be
 * another account's host of the same site, or nobody knows, as of old browsers and programs.
 */
export function senderOf({ fields }: HttpRequest): 'own' | 'other' | 'unknown' {
  const site = fields.get('sec-fetch-site');
  if (site === undefined) return 'unknown';
  return site === 'same-origin' || site === 'none' ? 'own' : 'other';
}

/**
 * Where a visitor goes after signing in: a path and query of the same host, and never a URL, which browsers also see in `//host`
 * and `/\host`.
 */
export function returnPath(path: string): string {
  const isPath = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) && !/^\/\.{0,2}\/[/\\]/.test(path);
  if (!isPath || path.length > PATH_MAX || ownPathOf(path)) return '/';
  // What a browser makes of it must still be at this host.
  const url = new URL(path, 'https://host.invalid');
  return url.host === 'host.invalid' && !url.pathname.startsWith('//') ? path : '/';
}

/** Whether cookies for secure connections alone come back: browsers also take them of this machine. */
export function isSecure({ request }: HttpExchange): boolean {
  return request.scheme === 'https' || LOCAL_HOST.test((request.received ?? request).host);
}

/** Where a visitor signs in. */
export function placeOf({ request, endpoint, entrance = endpoint, visitor }: HttpExchange): SignInPlace {
  return {
    accountId: endpoint.accountId,
    endpointId: endpoint.id,
    publicUrl: endpoint.publicUrl,
    origin: originOf(request, entrance.port),
    ip: visitor.ip,
    userAgent: (request.fields.get('user-agent') ?? '').slice(0, USER_AGENT_MAX),
  };
}

/**
 * The origin that a visitor came to: the host that was asked for, as it can be any below a wildcard, at the port of the endpoint. A
 * port that the visitor names may be another account's. A rule may have set another host, which is none of the gateway's.
 */
function originOf({ scheme, received, host }: HttpRequest, port: number): string {
  const name = (received?.host ?? host).toLowerCase().replace(/:\d*$/, '');
  return `${scheme}://${name}${port === DEFAULT_PORTS[scheme] ? '' : `:${port}`}`;
}
