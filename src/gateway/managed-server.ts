// Addresses that are reserved before there is a server for them, and servers that stop within a time limit.

import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Config } from '../config/config.ts';
import { listenOptions } from '../net/listen-options.ts';

/** How long a connection may still take for its first byte when its server stops; milliseconds. */
const SILENT_MS = 500;

export interface ReservedAddress {
  /** Its base URL, with the port that it has. */
  url: string;
  /** Lets `server` serve the connections to this address, those included that were opened since it was reserved. */
  serve(server: Server): Promise<void>;
  /** Gives the address up, unless a server has it. */
  release(): Promise<void>;
}

/**
 * Binds an address before its server exists: the server's parts need to know the port when it is 0, for any free one.
 * Connections wait until then.
 * @param fd as `listenOptions` takes it.
 * @throws when the address cannot be bound.
 */
export async function reserveAddress(
  scheme: 'http' | 'https',
  port: number,
  host: string,
  maxConnections: number,
  fd?: number,
): Promise<ReservedAddress> {
  const reservation = createServer({ pauseOnConnect: true });
  const waiting: Socket[] = [];
  reservation.maxConnections = maxConnections;
  reservation.on('connection', (socket) => {
    socket.on('error', () => socket.destroy()); // Until the server has it, nobody else would handle a reset.
    waiting.push(socket);
  });
  reservation.listen(listenOptions(port, host, undefined, fd));
  await once(reservation, 'listening');
  const { address, port: bound, family } = reservation.address() as AddressInfo;
  let isServed = false;
  return {
    url: `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    async serve(server) {
      isServed = true;
      server.listen(reservation); // Takes over the socket: from here on, connections go to the server.
      await once(server, 'listening');
      for (const socket of waiting) {
        server.emit('connection', socket);
        socket.resume();
      }
    },
    async release() {
      if (isServed) return;
      for (const socket of waiting) socket.destroy();
      await once(reservation.close(), 'close');
    },
  };
}

/** Binds the address of the API. @throws when it cannot be bound. */
export function reserveApiAddress(config: Config): Promise<ReservedAddress> {
  const { apiTls, apiPort, host, maxApiConnections, inheritedSockets } = config;
  return reserveAddress(apiTls ? 'https' : 'http', apiPort, host, maxApiConnections, inheritedSockets.api);
}

/**
 * @returns a function that stops a server: it accepts no more connections, closes those that have sent nothing soon, and after
 * `drainMs` milliseconds those that are still open. May be called twice. To be called before the server listens.
 */
export function stopperOf(server: Server): (drainMs: number) => Promise<void> {
  // The server's own list misses connections whose TLS handshake has not finished.
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return async (drainMs) => {
    const closed = new Promise((resolve) => server.close(resolve));
    // The server itself does not count connections without a first byte as idle, as browsers open them ahead. The delay is
    // for requests that are on their way.
    const silent = setTimeout(() => {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    }, SILENT_MS);
    const deadline = setTimeout(() => {
      for (const socket of connections) socket.destroy();
    }, drainMs);
    await closed;
    clearTimeout(deadline);
    clearTimeout(silent);
  };
}
