// The cookies of visitors who sign in: one of the session, and a few short-lived ones of log-ins under way.

import type { HttpRequest } from '../../http/exchange.ts';
import type { SignInTerms } from '../../http/visitor-sessions.ts';

/** The settings that name the cookies. */
type Named = Pick<SignInTerms, 'authId' | 'cookieDomain'>;

const SESSION = 'gateway_session.visitor';
const LOGIN_COOKIE = '__Host-gateway_session.login';
/** How many log-ins one browser may have under way: a cookie for each makes requests too large, one alone lets tabs disturb each other. */
const LOGINS_MAX = 4;
/** Of how many it is looked which one an answer belongs to; nobody has so many. */
const LOGINS_READ_MAX = 32;
/** How long a log-in may take; seconds. */
const LOGIN_SECONDS = 15 * 60;
const TOKEN = /^[\w-]{43}$/;

/** The token of a visitor's session; undefined without one. Of several, none is believed: one of them was planted. */
export function sessionToken(request: HttpRequest, named: Named): string | undefined {
  const values = valuesOf(request, sessionName(named));
  const [token = ''] = values;
  return values.length === 1 && TOKEN.test(token) ? token : undefined;
}

/** Whether there is a cookie of a session, of whatever worth. */
export function hasSessionCookie(request: HttpRequest, named: Named): boolean {
  return valuesOf(request, sessionName(named)).length > 0;
}

/** The cookies of log-ins under way, of whatever sign-ins the host has. */
export function loginCookies({ visitorCookies = [] }: HttpRequest): { name: string; attempt: string }[] {
  const ours = visitorCookies.filter((pair) => pair.startsWith(LOGIN_COOKIE)).slice(0, LOGINS_READ_MAX);
  return ours.map((pair) => {
    const [name = '', attempt = ''] = pair.split(/=(.*)/s);
    return { name, attempt };
  });
}

/** The `Set-Cookie` of a session. @param maxAge in seconds; 0 takes it away. */
export function sessionCookie(named: Named, token: string, maxAge: number): string {
  const domain = named.cookieDomain === undefined ? '' : `; Domain=${named.cookieDomain}`;
  return `${sessionName(named)}=${token}; Max-Age=${maxAge}; Path=/${domain}; Secure; HttpOnly; SameSite=Lax`;
}

/**
 * The `Set-Cookie` of a log-in that begins. It takes a free place; where all are taken, any one, as nobody has so many tabs in
 * which to type a password. `SameSite` is `Lax`, as the visitor comes back from another site.
 */
export function beginLogin(request: HttpRequest, named: Named, attempt: string): string {
  const names = loginNames(named);
  const taken = new Set(loginCookies(request).map(({ name }) => name));
  const place = Math.floor(Math.random() * LOGINS_MAX);
  return loginCookie(names.find((name) => !taken.has(name)) ?? (names[place] as string), attempt, LOGIN_SECONDS);
}

/** The `Set-Cookie` that ends a log-in. @param name of its cookie. */
export function endLogin(name: string): string {
  return loginCookie(name, '', 0);
}

function loginCookie(name: string, value: string, maxAge: number): string {
  return `${name}=${value}; Max-Age=${maxAge}; Path=/; Secure; HttpOnly; SameSite=Lax`;
}

/** A session that is valid in a domain cannot have the prefix that holds a cookie to one host (RFC 6265bis, section 4.1.3.2). */
function sessionName({ authId, cookieDomain }: Named): string {
  return `${cookieDomain === undefined ? '__Host-' : ''}${SESSION}${suffix(authId)}`;
}

function loginNames({ authId }: Named): string[] {
  return Array.from({ length: LOGINS_MAX }, (_, place) => `${LOGIN_COOKIE}${place}${suffix(authId)}`);
}

const suffix = (authId: string) => (authId === '' ? '' : `.${authId}`);

function valuesOf({ visitorCookies = [] }: HttpRequest, name: string): string[] {
  return visitorCookies.flatMap((pair) => (pair.startsWith(`${name}=`) ? pair.slice(name.length + 1) : []));
}
