// The cookies of visitors who sign in: one of the session, and a few short-lived ones of log-ins under way.

import type { HttpRequest } from '../../http/exchange.ts';
import type { SignInTerms } from '../../http/visitor-sessions.ts';

/** The settings that name the cookies. */
type Named = Pick<SignInTerms, 'authId' | 'cookieDomain'>;

const SESSION = 'gateway_session.visitor';
const LOGIN = 'gateway_session.login';
/** How many log-ins one browser may have under way: a cookie for each makes requests too large, one alone lets tabs disturb each other. */
const LOGINS_MAX = 4;
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

/** The sealed attempts of log-ins under way. */
export function loginAttempts(request: HttpRequest, named: Named): string[] {
  return loginNames(named).map((name) => valuesOf(request, name)[0] ?? '');
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
  const free = loginAttempts(request, named).indexOf('');
  const place = free === -1 ? Math.floor(Math.random() * LOGINS_MAX) : free;
  return loginCookie(named, place, attempt, LOGIN_SECONDS);
}

/** The `Set-Cookie` that ends a log-in. @param place of its attempt in the list of attempts. */
export function endLogin(named: Named, place: number): string {
  return loginCookie(named, place, '', 0);
}

function loginCookie(named: Named, place: number, value: string, maxAge: number): string {
  const name = loginNames(named)[place] as string;
  return `${name}=${value}; Max-Age=${maxAge}; Path=/; Secure; HttpOnly; SameSite=Lax`;
}

/** A session that is valid in a domain cannot have the prefix that holds a cookie to one host (RFC 6265bis, section 4.1.3.2). */
function sessionName({ authId, cookieDomain }: Named): string {
  return `${cookieDomain === undefined ? '__Host-' : ''}${SESSION}${suffix(authId)}`;
}

function loginNames({ authId }: Named): string[] {
  return Array.from({ length: LOGINS_MAX }, (_, place) => `__Host-${LOGIN}${place}${suffix(authId)}`);
}

const suffix = (authId: string) => (authId === '' ? '' : `.${authId}`);

function valuesOf({ visitorCookies = [] }: HttpRequest, name: string): string[] {
  return visitorCookies.flatMap((pair) => (pair.startsWith(`${name}=`) ? pair.slice(name.length + 1) : []));
}
