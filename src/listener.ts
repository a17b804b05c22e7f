// A server that speaks HTTP: how it begins to listen, and how it ends.

import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface Listener {
  /** @returns its base URL, with the port that it was given. @throws when the address cannot be had. */
  listen(port: number, host: string): Promise<string>;
  /** Takes no more connections; those that are still open after `ms` are cut. May be called twice. */
  stop(ms: number): Promise<void>;
}

export function listenerOf(server: Server): Listener {
  // With those that have not shaken hands yet, of which the server's own list does not know.
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return {
    async listen(port, host) {
      server.listen(port, host);
      await once(server, 'listening');
      const { address, port: bound, family } = server.address() as AddressInfo;
      const scheme = server instanceof TlsServer ? 'https' : 'http';
      return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
    },
    async stop(ms) {
      const closed = new Promise((resolve) => server.close(resolve));
      const deadline = setTimeout(() => {
        for (const socket of connections) socket.destroy();
      }, ms);
      await closed;
      clearTimeout(deadline);
    },
  };
}
