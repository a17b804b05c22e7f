// Where a server listens: at an address of its own, or on a socket that listens already.

import type { ListenOptions } from 'node:net';

/**
 * @param backlog the connections that the kernel keeps until they are accepted. Its own limit (`net.core.somaxconn`) may be lower.
 * @param fd the descriptor of a socket that was handed in, which is used in place of the port.
 */
export function listenOptions(port: number, host: string, backlog?: number, fd?: number): ListenOptions {
  return { ...(fd === undefined ? { port, host } : { fd }), ...(backlog === undefined ? {} : { backlog }) };
}
