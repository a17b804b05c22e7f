// Connections from the gateway to addresses that tenants have named.

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { HostPort } from '../../net/host-port.ts';
import { guardedLookup, type ResolveHost } from '../../net/public-addresses.ts';
import type { AddressRule } from '../../net/reachable-hosts.ts';
import { CLIENT_TLS } from '../../protocol/tls-suites.ts';

/** How long it may take to look a name up, to connect, and for the handshake of TLS; milliseconds. */
const TIMEOUT_MS = 10_000;
/** After so much silence the kernel asks whether the other end is still there; milliseconds. */
const KEEP_ALIVE_MS = 60_000;

export interface DialTarget extends HostPort {
  tls: boolean;
  /** The protocols that are offered in TLS (ALPN); undefined: nothing is said of them. */
  protocols: readonly string[] | undefined;
}

export interface DialMeans {
  /** Which addresses of the host may be connected to. */
  isAllowed: AddressRule;
  resolve: ResolveHost;
  /** The authorities that certificates are checked by; undefined: those of Node. */
  authorities: SecureContext | undefined;
}

/** An address may not be connected to. The error does not name it: who named the host may not know it. */
class ForbiddenAddress extends Error {}

/**
 * Connects, and checks the very address that it connects to. With TLS, the certificate must be valid for the host.
 * @param onSocket gets the connected socket at once, before anything can be read of it.
 * @returns why there is none.
 */
export function dial(
  target: DialTarget,
  { isAllowed, resolve, authorities }: DialMeans,
  onSocket: (socket: Socket) => void,
): Promise<'dialFailed' | 'dialForbidden' | undefined> {
  const { host, port, tls, protocols } = target;
  // Names are checked when they are looked up; addresses are not looked up.
  if (isIP(host) !== 0 && !isAllowed(host)) return Promise.resolve('dialForbidden');
  const options = {
    ...{ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
    lookup: guardedLookup(isAllowed, () => new ForbiddenAddress(), resolve),
  };
  const socket = tls
    ? connectTls({
        ...options,
        ...CLIENT_TLS,
        ...(isIP(host) === 0 && { servername: host }),
        ...(protocols && { ALPNProtocols: [...protocols] }),
        ...(authorities && { secureContext: authorities }),
      })
    : connectTcp(options);
  return new Promise((resolve) => {
    const deadline = setTimeout(() => socket.destroy(), TIMEOUT_MS);
    const settle = (failure?: 'dialFailed' | 'dialForbidden') => {
      clearTimeout(deadline);
      resolve(failure);
    };
    socket.on('error', (error) => settle(error instanceof ForbiddenAddress ? 'dialForbidden' : 'dialFailed'));
    socket.once('close', () => settle('dialFailed'));
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      onSocket(socket);
      settle();
    });
  });
}
