// The gateway's own cookies: of its API, and of visitors who have signed in. No upstream is given one, and no answer of one
// sets it.

import { SPACE, TAB } from './bytes.ts';

/** The cookie of a browser session. Browsers send it to every port of the API's host. */
export const SESSION_COOKIE = '__Host-gateway_session';

/** The cookie that binds a challenge for a passkey to the browser that asked for it. */
export const PASSKEY_COOKIE = `${SESSION_COOKIE}.passkey`;

/** What the names of all of them have, behind `__Host-` where they have that; those of visitors go on with a dot. */
const STEM = Buffer.from('gateway_session');
const HOST_PREFIX = Buffer.from('__Host-');
const OWN_NAME = /^(?:__Host-gateway_session(?:\..*)?|gateway_session\..*)$/s;
const OF_VISITORS = /gateway_session\./;
const [EQUALS, DOT] = [0x3d, 0x2e];
/** How far from each byte the end of the stem may be at the least, if it is none of the last one (Boyer, Moore, Horspool). */
const STEPS = new Uint8Array(256).fill(STEM.length);
for (let i = 0; i < STEM.length - 1; i++) STEPS[STEM[i] as number] = STEM.length - 1 - i;

/**
 * Takes them out of the value of a Cookie field, in place: what else is there moves up, and blanks fill the end, which no
 * value has (RFC 9110, section 5.5).
 * @param from where the value begins.
 * @param taken gets those of visitors, as in `name=value`.
 * @returns whether nothing else is there.
 */
export function takeOwnCookies(bytes: Buffer, from: number, end: number, taken: string[]): boolean {
  if (!hasStem(bytes, from, end)) return false;
  const others: string[] = [];
  for (const pair of bytes.toString('latin1', from, end).split(';')) {
    if (!OWN_NAME.test(pair.replace(/=.*/s, '').trim())) others.push(pair);
    else if (OF_VISITORS.test(pair)) taken.push(pair.trim());
  }
  bytes.fill(SPACE, from, end);
  bytes.write(others.join(';'), from, 'latin1');
  return others.length === 0;
}

/** Looks at one byte of most values in fifteen: nearly all requests with cookies have none of these. */
function hasStem(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from + STEM.length - 1; at < end; at += STEPS[bytes[at] as number] as number)
    if (bytes[at] === STEM[STEM.length - 1] && hasAt(bytes, at - STEM.length + 1, STEM)) return true;
  return false;
}

function hasAt(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}

/** Whether the value of a Set-Cookie field sets one of them. @param from where the value begins. */
export function setsOwnCookie(bytes: Buffer, from: number, end: number): boolean {
  let at = from;
  // Of a cookie without a name, browsers send the value alone, which then looks like one that has a name.
  while (at < end && isBlankOr(EQUALS, bytes[at])) at++;
  const isOfHost = hasAt(bytes, at, HOST_PREFIX);
  const nameEnd = at + (isOfHost ? HOST_PREFIX.length : 0) + STEM.length;
  if (nameEnd >= end || !hasAt(bytes, nameEnd - STEM.length, STEM)) return false;
  if (bytes[nameEnd] === DOT) return true;
  for (at = nameEnd; at < end && bytes[at] !== EQUALS; at++) if (!isBlankOr(EQUALS, bytes[at])) return false;
  return isOfHost && at < end;
}

function isBlankOr(other: number, byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === other;
}
