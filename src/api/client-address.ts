// Whom a request comes from: the other end of its connection, or whom a proxy that the operator trusts names.

import type { IncomingMessage } from 'node:http';
import { wayOf } from '../http/forwarded.ts';
import type { Networks } from '../net/networks.ts';
import { ipOf } from '../tunnel/network/peer.ts';

/**
 * The address of the client: what attempts, limits, logs and sessions go by. Only what `TRUSTED_PROXIES` wrote is
 * believed: of the addresses that they passed on, the last one that is not a trusted proxy itself.
 */
export function clientAddress({ socket, headers }: IncomingMessage, proxies: Networks): string {
  const peer = ipOf(socket);
  const said = headers['x-forwarded-for'];
  const { forwarded } = headers;
  if ((said === undefined && forwarded === undefined) || !proxies.has(peer)) return peer;
  const clientIn = (entries: string[]) => wayOf(entries, proxies)[0]?.ip ?? peer;
  const found = [
    ...(said === undefined ? [] : [clientIn(String(said).split(','))]),
    ...(forwarded === undefined ? [] : [clientIn(elements(forwarded, 'for'))]),
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
  if ((said === undefined && forwarded === undefined) || !proxies.has(ipOf(socket))) return undefined;
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

/** A parameter of every element of `Forwarded`; '' where one has none. */
function elements(forwarded: string, name: string): string[] {
  return forwarded.split(',').map((element) => {
    const pair = element.split(';').find((part) => part.trim().toLowerCase().startsWith(`${name}=`));
    return pair === undefined ? '' : pair.slice(pair.indexOf('=') + 1).replace(/^"(.*)"$/, '$1');
  });
}
