// The upstream of a tunnel, and the connection to it.

import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import type { Directory } from '../files/serve-directory.ts';
import { isDirectoryUrl, readDirectoryUrl, readForwardsTo } from '../settings/forwards-to.ts';

/** A directory of this machine, whose files are served. */
export interface DirectoryUpstream {
  directory: Directory;
}

/** The server, or the directory, that a tunnel forwards to. */
export type Upstream = ServerUpstream | DirectoryUpstream;

/** A server. */
export interface ServerUpstream {
  /** A name, or an IP address without brackets. */
  host: string;
  port: number;
  /** Whether the connection uses TLS, and for which protocol. */
  tls: 'none' | 'https' | 'tls';
}

/**
 * Parses `host:port` or a URL.
 * @throws {Error} the expected form.
 */
export function readUpstream({ forwardsTo, isListed = false }: { forwardsTo: string; isListed?: boolean }): Upstream {
  if (isDirectoryUrl(forwardsTo)) return { directory: { path: readDirectoryUrl(forwardsTo), isListed } };
  const { host, port, text } = readForwardsTo(forwardsTo);
  const tls = text.startsWith('https:') ? 'https' : text.startsWith('tls:') ? 'tls' : 'none';
  return { host, port, tls };
}

/**
 * Starts to connect.
 * @param addresses the resolved addresses of the host.
 * @returns the socket, and the event that it emits when it is connected.
 */
export function connectUpstream(
  { host, port, tls }: ServerUpstream,
  addresses: string[],
): { socket: Socket; ready: string } {
  // Half-open: a visitor that has ended its side still reads the response.
  const options = { host, port, lookup: fixedLookup(addresses), noDelay: true, keepAlive: true, allowHalfOpen: true };
  if (tls === 'none') return { socket: connect(options), ready: 'connect' };
  const socket = tlsConnect({
    ...options,
    servername: isIP(host) ? '' : host,
    // The forwarded bytes are HTTP/1.1.
    ...(tls === 'https' ? { ALPNProtocols: ['http/1.1'] } : {}),
    // On loopback there is no man in the middle, and certificates for it are rare.
    rejectUnauthorized: !isLoopback(host),
  });
  return { socket, ready: 'secureConnect' };
}

/** A lookup function that resolves every name to these addresses. */
export function fixedLookup(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, options, done) => {
    if (options.all) done(null, all);
    else done(null, all[0]?.address ?? '', all[0]?.family);
  };
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}
