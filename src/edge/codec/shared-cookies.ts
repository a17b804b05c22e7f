// Cookies for domains that accounts share: one that is set for such a domain, or for one above it, would be sent to the services of
// other accounts. Browsers refuse those of public suffixes (RFC 6265bis, section 5.6.3.1); the gateway's own domains are none that they
// know, unless the operator has them listed.

import { domainToASCII } from 'node:url';
import { startsWithWord } from './bytes.ts';
import { trimEnd, trimStart } from './fields.ts';

const [SEMICOLON, EQUALS] = [0x3b, 0x3d];
const DOMAIN = 'domain';

/**
 * Whether the value of a Set-Cookie field has an attribute `Domain` that is a shared domain, or one above it. Of several, browsers take
 * the last; here each counts.
 * @param from where the value begins.
 * @param shared in lower case.
 */
export function setsSharedCookie(bytes: Buffer, from: number, end: number, shared: readonly string[]): boolean {
  let at = from;
  while (at < end && bytes[at] !== SEMICOLON) at++;
  while (at < end) {
    const start = trimStart(bytes, at + 1, end);
    at = start;
    while (at < end && bytes[at] !== SEMICOLON) at++;
    if (!startsWithWord(bytes, start, at, DOMAIN)) continue;
    const equals = trimStart(bytes, start + DOMAIN.length, at);
    if (bytes[equals] !== EQUALS) continue;
    const valueStart = trimStart(bytes, equals + 1, at);
    const domain = hostOf(bytes.toString('utf8', valueStart, trimEnd(bytes, valueStart, at)));
    if (shared.some((own) => own === domain || own.endsWith(`.${domain}`))) return true;
  }
  return false;
}

/** The domain as browsers read it, which take a dot before it away. A dot behind it makes it none, which is not relied on. */
function hostOf(text: string): string {
  const name = /^[a-z0-9.-]*$/.test(text) ? text : domainToASCII(text.toLowerCase());
  return name.replace(/^\.+|\.+$/g, '');
}

/** Whether a field of a response that the gateway makes sets one. */
export function isSharedCookie(
  [name, value]: readonly [name: string, value: string],
  shared: readonly string[],
): boolean {
  if (name.length !== 10 || name.toLowerCase() !== 'set-cookie') return false;
  const bytes = Buffer.from(value, 'latin1');
  return setsSharedCookie(bytes, 0, bytes.length, shared);
}
