// Where listeners are, and what that looks like to people.

import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { listenOptions } from '../net/listen-options.ts';

/** Connections that the kernel takes before we do: all agents of a gateway may come at once. The kernel's own limit is another. */
export const BACKLOG = 4096;

/** Begins to listen. @param fd as `listenOptions` takes it. @throws when the address cannot be had. */
export async function listen(server: Server, port: number, host: string, fd?: number): Promise<AddressInfo> {
  server.listen(listenOptions(port, host, BACKLOG, fd));
  await once(server, 'listening');
  return server.address() as AddressInfo;
}

/** `127.0.0.1:8080` */
export function show({ address, port, family }: AddressInfo): string {
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** `20000-29999`, or one port alone. */
export function showPorts({ first, last }: { first: number; last: number }): string {
  return first === last ? String(first) : `${first}-${last}`;
}

/** `https://example.com:8443`; the usual port is left out. */
export function httpsOrigin(hostname: string, port: number): string {
  return port === 443 ? `https://${hostname}` : `https://${hostname}:${port}`;
}
