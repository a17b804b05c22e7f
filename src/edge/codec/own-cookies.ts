// The gateway's own cookies. They are for its API alone: no upstream is given one, and no answer of one sets it.

import { SPACE, TAB } from './bytes.ts';

/** The cookie of a browser session. Browsers send it to every port of the API's host. */
export const SESSION_COOKIE = '__Host-gateway_session';

const NAME = Buffer.from(SESSION_COOKIE);
const EQUALS = 0x3d;
/** How far from each byte the end of the name may be at the least, if it is none of the last one (Boyer, Moore, Horspool). */
const STEPS = new Uint8Array(256).fill(NAME.length);
for (let i = 0; i < NAME.length - 1; i++) STEPS[NAME[i] as number] = NAME.length - 1 - i;

/**
 * Takes them out of the value of a Cookie field, in place: what else is there moves up, and blanks fill the end, which no
 * value has (RFC 9110, section 5.5).
 * @param from where the value begins.
 * @returns whether nothing else is there.
 */
export function takeOwnCookies(bytes: Buffer, from: number, end: number): boolean {
  if (!hasName(bytes, from, end)) return false;
  const pairs = bytes.toString('latin1', from, end).split(';');
  const others = pairs.filter((pair) => pair.replace(/=.*/s, '').trim() !== SESSION_COOKIE);
  bytes.fill(SPACE, from, end);
  bytes.write(others.join(';'), from, 'latin1');
  return others.length === 0;
}

/** Looks at one byte of most values in twenty: nearly all requests with cookies have none of these. */
function hasName(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from + NAME.length - 1; at < end; at += STEPS[bytes[at] as number] as number)
    if (bytes[at] === NAME[NAME.length - 1] && startsWithName(bytes, at - NAME.length + 1)) return true;
  return false;
}

function startsWithName(bytes: Buffer, at: number): boolean {
  for (let i = 0; i < NAME.length; i++) if (bytes[at + i] !== NAME[i]) return false;
  return true;
}

/** Whether the value of a Set-Cookie field sets one of them. @param from where the value begins. */
export function setsOwnCookie(bytes: Buffer, from: number, end: number): boolean {
  let at = from;
  // Of a cookie without a name, browsers send the value alone, which then looks like one that has a name.
  while (at < end && isBlankOr(EQUALS, bytes[at])) at++;
  const nameEnd = at + NAME.length;
  if (nameEnd >= end || !startsWithName(bytes, at)) return false;
  for (at = nameEnd; at < end && bytes[at] !== EQUALS; at++) if (!isBlankOr(EQUALS, bytes[at])) return false;
  return at < end;
}

function isBlankOr(other: number, byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === other;
}
