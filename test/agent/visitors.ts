// Programs behind an agent, and visitors who come through the gateway.

import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import type { TestGateway } from '../support/gateway/gateway.ts';
import { type Visit, visit as visitAt } from '../support/visit.ts';

export interface Service {
  /** `host:port`. */
  at: string;
  close(): Promise<unknown>;
}

/** A program that says its name to whoever asks over HTTP. */
export async function startService(name: string): Promise<Service> {
  const server = createServer((_, response) => response.end(name));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    at: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      return once(server.close(), 'close');
    },
  };
}

/** A program that gives back what it gets, over TCP. */
export async function startEcho(): Promise<
  Service & { /** The next connection that it loses. */ left(): Promise<unknown> }
> {
  const sockets = new Set<Socket>();
  const losses = new EventEmitter();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .once('close', () => {
        sockets.delete(socket);
        losses.emit('left');
      });
    socket.pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    at: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    left: () => once(losses, 'left'),
    close() {
      for (const socket of sockets) socket.destroy();
      return once(server.close(), 'close');
    },
  };
}

/** Asks for a public URL (http or https), on a connection of its own: names need no DNS. */
export function visit(gateway: TestGateway, url: string, headers: Record<string, string> = {}): Promise<Visit> {
  return visitAt(url, url.startsWith('https:') ? gateway.https : gateway.http, { headers, ca: gateway.ca });
}

/** Says something at a TCP port of this machine, and hangs up. @returns the first that came back. */
export async function replyTo(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').end(text);
  const [data] = await once(socket, 'data');
  socket.on('error', () => {}).destroy(); // An agent that is killed would reset it.
  return String(data);
}
