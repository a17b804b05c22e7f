// Whom a request comes from: the other end of its connection, or whom a proxy that the operator trusts names.

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Networks } from '../edge/ip/networks.ts';
import { plain } from '../edge/visitors.ts';

/** A `for` of `Forwarded` (RFC 7239, section 6), or an entry of `X-Forwarded-For`; both may come with a port. */
const NODE = /^"?(?:\[([\da-f:.]+)\]|([\d.]+)|([\da-f:]+(?:\d+\.\d+\.\d+\.\d+)?))(?::\d{1,5})?"?$/i;

/**
 * The address of the client: what attempts, limits, logs and sessions go by. Only what `TRUSTED_PROXIES` wrote is
 * believed: of the addresses that they passed on, the last one that is not a trusted proxy itself.
 */
export function clientAddress({ socket, headers }: IncomingMessage, proxies: Networks): string {
  const peer = plain(socket.remoteAddress ?? '');
  const said = headers['x-forwarded-for'];
  const { forwarded } = headers;
  if ((said === undefined && forwarded === undefined) || !proxies.has(peer)) return peer;
  const found = [
    ...(said === undefined ? [] : [lastUntrusted(String(said).split(','), peer, proxies)]),
    ...(forwarded === undefined ? [] : [lastUntrusted(elements(forwarded, 'for'), peer, proxies)]),
  ];
  // A proxy writes one of the two and lets the other pass: where they differ, one of them is the client's own words.
  return found.every((address) => address === found[0]) ? (found[0] ?? peer) : peer;
}

/**
 * The scheme that the client used, as a trusted proxy says.
 * @returns undefined when none says it, or more than one thing is said.
 */
export function forwardedScheme({ socket, headers }: IncomingMessage, proxies: Networks): 'http' | 'https' | undefined {
  const { forwarded, 'x-forwarded-proto': said } = headers;
  if ((said === undefined && forwarded === undefined) || !proxies.has(plain(socket.remoteAddress ?? '')))
    return undefined;
  const words = [
    ...(said === undefined ? [] : String(said).split(',')),
    ...(forwarded === undefined ? [] : elements(forwarded, 'proto').slice(-1)),
  ].map((word) => word.trim().toLowerCase());
  const [scheme] = words;
  return (scheme === 'http' || scheme === 'https') && words.every((word) => word === scheme) ? scheme : undefined;
}

/** Whether somebody on the way says that it passed the request on. */
export function isPassedOn({ headers }: IncomingMessage): boolean {
  return headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
}

/** From the right: each proxy adds whom it was asked by. What is no address ends it, as nobody can say who wrote it. */
function lastUntrusted(entries: string[], peer: string, proxies: Networks): string {
  let client = peer;
  for (const entry of entries.reverse()) {
    const [, bracketed, four, six] = NODE.exec(entry.trim()) ?? [];
    const address = plain(bracketed ?? four ?? six ?? '');
    if (isIP(address) === 0) return client;
    client = address;
    if (!proxies.has(client)) return client;
  }
  return client;
}

/** A parameter of every element of `Forwarded`; '' where one has none. */
function elements(forwarded: string, name: string): string[] {
  return forwarded.split(',').map((element) => {
    const pair = element.split(';').find((part) => part.trim().toLowerCase().startsWith(`${name}=`));
    return pair === undefined ? '' : pair.slice(pair.indexOf('=') + 1).replace(/^"(.*)"$/, '$1');
  });
}
