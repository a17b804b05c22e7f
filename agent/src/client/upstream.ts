// Where a tunnel forwards to.

import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { readForwardsTo } from '../settings/forwards-to.ts';

export interface Upstream {
  /** Without brackets. */
  host: string;
  port: number;
  /** Whether it is spoken to in TLS, and as what. */
  tls: 'none' | 'https' | 'tls';
}

/** Reads `host:port`, or a URL. @throws with what would be right. */
export function readUpstream(forwardsTo: string): Upstream {
  const { host, port, text } = readForwardsTo(forwardsTo);
  const tls = text.startsWith('https:') ? 'https' : text.startsWith('tls:') ? 'tls' : 'none';
  return { host, port, tls };
}

/**
 * Begins to connect.
 * @param addresses what the host's name is resolved to.
 * @returns the socket, and the event that says that it is ready.
 */
export function connectUpstream({ host, port, tls }: Upstream, addresses: string[]): { socket: Socket; ready: string } {
  // Half-open: a visitor who has sent everything still wants the answer.
  const options = { host, port, lookup: pinned(addresses), noDelay: true, keepAlive: true, allowHalfOpen: true };
  if (tls === 'none') return { socket: connect(options), ready: 'connect' };
  const socket = tlsConnect({
    ...options,
    servername: isIP(host) ? '' : host,
    // What is passed on are the bytes of HTTP/1.1.
    ...(tls === 'https' ? { ALPNProtocols: ['http/1.1'] } : {}),
    // Nobody is in between on the machine itself, and hardly anybody has certificates for it.
    rejectUnauthorized: !isLoopback(host),
  });
  return { socket, ready: 'secureConnect' };
}

/** Resolves every name to these addresses. */
function pinned(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, options, done) => {
    if (options.all) done(null, all);
    else done(null, all[0]?.address ?? '', all[0]?.family);
  };
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}
