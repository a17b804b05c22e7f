// What never left this machine.

import type { IncomingMessage } from 'node:http';
import { isPassedOn } from './client-address.ts';

/**
 * Whether a request came from this machine to this machine: both by its address and by the name that it asks for, which a
 * page from elsewhere cannot choose. What a proxy passes on may come from anywhere.
 * @param client the address of the client.
 */
export function isLoopbackRequest(request: IncomingMessage, client: string): boolean {
  if (isPassedOn(request)) return false;
  return /^(::1|127(\.\d+){3})$/.test(client) && isLoopbackHost(request.headers.host ?? '');
}

/** Whether a `Host` header names this machine. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
