// Where a request comes from, and by which address it reached us: what its connection says, or what a proxy says that the
// operator trusts.

import type { IncomingMessage } from 'node:http';
import { forwardedChain } from '../../http/forwarded.ts';
import type { Networks } from '../../net/networks.ts';
import { ipOf } from '../../tunnel/network/peer.ts';
import type { ApiSettings } from '../settings.ts';

/**
 * The address of the client: what attempts, limits, logs and sessions go by. Only what `TRUSTED_PROXIES` wrote is
 * believed: of the addresses that they passed on, the last one that is not a trusted proxy itself.
 */
export function clientAddress({ socket, headers }: IncomingMessage, proxies: Networks): string {
  const peer = ipOf(socket);
  const forwardedHeader = headers['x-forwarded-for'];
  const { forwarded } = headers;
  if ((forwardedHeader === undefined && forwarded === undefined) || !proxies.has(peer)) return peer;
  const clientIn = (entries: string[]) => forwardedChain(entries, proxies)[0]?.ip ?? peer;
  const addresses = [
    ...(forwardedHeader === undefined ? [] : [clientIn(String(forwardedHeader).split(','))]),
    ...(forwarded === undefined ? [] : [clientIn(forwardedParameters(forwarded, 'for'))]),
  ];
  // A proxy writes one of the two and lets the other pass: where they differ, one of them is the client's own words.
  return addresses.every((address) => address === addresses[0]) ? (addresses[0] ?? peer) : peer;
}

/**
 * The scheme that the client used, as a trusted proxy says.
 * @returns undefined when none says it, or more than one thing is said.
 */
export function forwardedScheme({ socket, headers }: IncomingMessage, proxies: Networks): 'http' | 'https' | undefined {
  const { forwarded, 'x-forwarded-proto': forwardedHeader } = headers;
  if ((forwardedHeader === undefined && forwarded === undefined) || !proxies.has(ipOf(socket))) return undefined;
  const schemes = [
    ...(forwardedHeader === undefined ? [] : String(forwardedHeader).split(',')),
    ...(forwarded === undefined ? [] : forwardedParameters(forwarded, 'proto').slice(-1)),
  ].map((word) => word.trim().toLowerCase());
  const [scheme] = schemes;
  return (scheme === 'http' || scheme === 'https') && schemes.every((word) => word === scheme) ? scheme : undefined;
}

/** Whether somebody on the way says that it passed the request on. */
function isProxied({ headers }: IncomingMessage): boolean {
  return headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
}

/**
 * Whether a request came from this machine to this machine: both by its address and by the name that it asks for, which a
 * page from elsewhere cannot choose. What a proxy passes on may come from anywhere.
 * @param client the address of the client.
 */
export function isLoopbackRequest(request: IncomingMessage, client: string): boolean {
  if (isProxied(request)) return false;
  return /^(::1|127(\.\d+){3})$/.test(client) && isLoopbackHost(request.headers.host ?? '');
}

/** Whether a `Host` header names this machine. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}

/**
 * What `uri`s begin with: the configured address, or the request's own origin when it names a host that we are known
 * by, or else the address we listen on.
 * @param forwardedScheme what a trusted proxy says that the client used.
 */
export function baseUrlOf(
  { publicApiUrl, allowedHosts }: ApiSettings,
  request: IncomingMessage,
  forwardedScheme?: 'http' | 'https',
): string {
  if (publicApiUrl) return publicApiUrl;
  const scheme = forwardedScheme ?? ('encrypted' in request.socket ? 'https' : 'http');
  const host = request.headers.host?.toLowerCase() ?? '';
  const name = host.replace(/:\d+$/, '');
  if (allowedHosts.includes(name) && /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?$/.test(host))
    return `${scheme}://${host}`;
  const { localAddress = '127.0.0.1', localPort } = request.socket;
  return `${scheme}://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** A parameter of every element of `Forwarded`; '' where one has none. */
function forwardedParameters(forwarded: string, name: string): string[] {
  return forwarded.split(',').map((element) => {
    const pair = element.split(';').find((part) => part.trim().toLowerCase().startsWith(`${name}=`));
    return pair === undefined ? '' : pair.slice(pair.indexOf('=') + 1).replace(/^"(.*)"$/, '$1');
  });
}
