// The name in a Host header, or in the target of a request: what endpoints are found by.

import { COLON, classOf, HOST } from './bytes.ts';

const NAME_MAX = 253;
const LABEL_MAX = 63;
const DOT = 0x2e;

/**
 * The name of `host[:port]` (RFC 9110 §7.2): in lower case, without the port and without one dot at its end.
 * @returns undefined unless it is a name of letters, digits, hyphens and underscores (names with other letters come as
 *   A-labels), an IPv4 address, or an IPv6 address in brackets, and the port at most 5 digits (RFC 3986 §3.2.3: it may
 *   be empty, which is no port).
 */
export function hostnameOf(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[start] === 0x5b) return addressOf(bytes.toString('latin1', start, end));
  let at = start;
  let label = start;
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (((classOf[byte] as number) & HOST) === 0) break;
    if (byte !== DOT) continue;
    if (at === label || at - label > LABEL_MAX) return undefined;
    label = at + 1;
  }
  if (at - label > LABEL_MAX || at === start || !isPort(bytes, at, end)) return undefined;
  // An empty last label is the dot at the end; an empty first one was refused above.
  const nameEnd = at === label ? at - 1 : at;
  if (nameEnd - start > NAME_MAX) return undefined;
  return bytes.toString('latin1', start, nameEnd).toLowerCase();
}

/** The port of `host[:port]`, which `hostnameOf` took; `otherwise` where there is none. */
export function portOf(bytes: Buffer, start: number, end: number, otherwise: number): number {
  for (let at = end - 1; at >= start && at >= end - 6; at--)
    if (bytes[at] === COLON) return at + 1 === end ? otherwise : Number(bytes.toString('latin1', at + 1, end));
  return otherwise;
}

function isPort(bytes: Buffer, colon: number, end: number): boolean {
  if (colon === end) return true;
  if (bytes[colon] !== COLON || end - colon > 6) return false;
  for (let at = colon + 1; at < end; at++)
    if ((bytes[at] as number) < 0x30 || (bytes[at] as number) > 0x39) return false;
  return true;
}

function addressOf(host: string): string | undefined {
  return /^(\[[0-9a-f:.]{2,45}\])(?::[0-9]{0,5})?$/i.exec(host)?.[1]?.toLowerCase();
}
