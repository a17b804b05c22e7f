// An HTTP or HTTPS server with a start that can be awaited and a stop with a time limit.

import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface ManagedServer {
  /** @returns its base URL with the bound port. @throws when the address cannot be bound. */
  listen(port: number, host: string): Promise<string>;
  /** Accepts no more connections, and closes those that are still open after `drainMs`. May be called twice. */
  stop(drainMs: number): Promise<void>;
}

export function manageServer(server: Server): ManagedServer {
  // The server's own list misses connections whose TLS handshake has not finished.
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
    async stop(drainMs) {
      const closed = new Promise((resolve) => server.close(resolve));
      const deadline = setTimeout(() => {
        for (const socket of connections) socket.destroy();
      }, drainMs);
      await closed;
      clearTimeout(deadline);
    },
  };
}
