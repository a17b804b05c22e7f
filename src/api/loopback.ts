// What never left this machine.

import type { IncomingMessage } from 'node:http';

/**
 * Whether a request came from this machine to this machine: both by its address and by the name that it asks for, which a
 * page from elsewhere cannot choose. What a proxy passes on comes from wherever the proxy says.
 */
export function isLoopbackRequest({ socket, headers }: IncomingMessage): boolean {
  if (headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined) return false;
  return /^(::1|(::ffff:)?127(\.\d+){3})$/.test(socket.remoteAddress ?? '') && isLoopbackHost(headers.host ?? '');
}

/** Whether a `Host` header names this machine. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
