// Cookies as expressions see them: lists of cookies by name.

import { type CelInput, type CelMap, celMap } from '@bufbuild/cel';
import { duration, timestamp } from './times.ts';

export type Cookie = Record<string, CelInput>;

/** What a cookie that is not there is like: its members are empty, so that a rule can ask for its value right away. */
export const noCookie = (name: string): Cookie => ({ name, value: '' });

/** @param header the values of `Cookie`, joined by `; `. Cookies of the same name are in the order of the header. */
export function requestCookies(header: string): Cookie[] {
  if (header === '') return [];
  return header.split(';').flatMap<Cookie>((pair) => {
    const [name, value] = splitPair(pair);
    return name === '' ? [] : { name, value };
  });
}

/**
 * @param lines the values of `Set-Cookie` (RFC 6265, section 4.1). The longest path comes first.
 * `expires` and `max_age` are missing where they are not set.
 */
export function responseCookies(lines: readonly string[]): Cookie[] {
  const cookies = lines.flatMap<Cookie>((line) => responseCookie(line) ?? []);
  return cookies.sort((one, other) => String(other.path).length - String(one.path).length);
}

let last = { header: '', map: byName([]) };

/** The same by name. Several rules ask about the same header: the last one is kept. */
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

/** As policies of 2024 have them: a list, with members in capitals. */
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
