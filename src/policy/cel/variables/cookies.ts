// Cookies for expressions: lists of cookies by name.

import { type CelInput, type CelMap, celMap } from '@bufbuild/cel';
import { duration, timestamp } from './times.ts';

/** A cookie with its members. */
export type Cookie = Record<string, CelInput>;

/** The stand-in for a missing cookie. Its value is empty, so that a rule can use it without a check. */
export const noCookie = (name: string): Cookie => ({ name, value: '' });

/** Parses request cookies. @param header the values of `Cookie`, joined by `; `. Cookies of one name keep their order. */
export function requestCookies(header: string): Cookie[] {
  if (header === '') return [];
  return header.split(';').flatMap<Cookie>((pair) => {
    const [name, value] = splitPair(pair);
    return name === '' ? [] : { name, value };
  });
}

/**
 * Parses response cookies and sorts them by the length of their paths, the longest first. `expires` and `max_age` are
 * left out when a cookie has none.
 * @param lines the values of `Set-Cookie` (RFC 6265, section 4.1).
 */
export function responseCookies(lines: readonly string[]): Cookie[] {
  const cookies = lines.flatMap<Cookie>((line) => responseCookie(line) ?? []);
  return cookies.sort((one, other) => String(other.path).length - String(one.path).length);
}

let last = { header: '', map: byName([]) };

/** Parses request cookies into a map by name. The last result is cached, as several rules use the same header. */
export function requestCookiesByName(header: string): CelMap {
  if (last.header !== header) last = { header, map: byName(requestCookies(header)) };
  return last.map;
}

export function byName(cookies: readonly Cookie[]): CelMap {
  const map = new Map<string, Cookie[]>();
  for (const cookie of cookies) {
    const known = map.get(cookie.name as string);
    if (known) known.push(cookie);
    else map.set(cookie.name as string, [cookie]);
  }
  return celMap(map);
}

/** Cookies in the format of policies of 2024: a list with capitalized members. */
export function legacyCookies(cookies: readonly Cookie[]): Cookie[] {
  return cookies.map((cookie) => ({ Name: cookie.name as string, Value: cookie.value as string }));
}

function responseCookie(line: string): Cookie | undefined {
  const [pair = '', ...attributes] = line.split(';');
  const [name, value] = splitPair(pair);
  if (name === '') return undefined;
  const unparsed = new Map<string, string>();
  const cookie: Cookie = { ...noCookie(name), value, domain: '', path: '', same_site: '' };
  cookie.http_only = false;
  cookie.secure = false;
  cookie.unparsed_attributes = unparsed;
  for (const attribute of attributes) {
    const [key, setting] = splitPair(attribute);
    const known = key.toLowerCase();
    if (known === 'domain' || known === 'path') cookie[known] = setting;
    else if (known === 'samesite') cookie.same_site = setting;
    else if (known === 'httponly') cookie.http_only = true;
    else if (known === 'secure') cookie.secure = true;
    else if (known === 'expires') setExpiry(cookie, setting);
    else if (known === 'max-age') setAge(cookie, setting);
    else if (key !== '') unparsed.set(key, setting);
  }
  return cookie;
}

function setExpiry(cookie: Cookie, text: string): void {
  const at = Date.parse(text);
  if (!Number.isNaN(at)) cookie.expires = timestamp(at);
}

function setAge(cookie: Cookie, text: string): void {
  if (/^-?\d{1,11}$/.test(text)) cookie.max_age = duration(BigInt(text));
}

function splitPair(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=');
  if (at < 0) return [pair.trim(), ''];
  const value = pair.slice(at + 1).trim();
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return [pair.slice(0, at).trim(), isQuoted ? value.slice(1, -1) : value];
}
