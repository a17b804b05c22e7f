// Listeners of one process alone, where several share the public ones. A replay of a captured request must come to the process that
// sends it, which then knows it among its visitors; and a process that has started visits itself.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Lifecycle } from '../lifecycle.ts';

type Listeners<T> = Record<'http' | 'https', T>;

/** Opens them, on loopback. @param servers that serve the connections. @returns the addresses. */
export async function openOwnListeners(
  parts: Lifecycle,
  { http, https }: Listeners<Server>,
): Promise<Listeners<AddressInfo>> {
  return { http: await open(parts, http), https: await open(parts, https) };
}

async function open(parts: Lifecycle, server: Server): Promise<AddressInfo> {
  const listener = await parts.start({
    name: 'own listener',
    start: () => createServer((socket) => void server.emit('connection', socket)),
    drain: (listener) => void listener.close(),
  });
  listener.listen({ port: 0, host: '127.0.0.1', exclusive: true });
  await once(listener, 'listening');
  return listener.address() as AddressInfo;
}
