// Sockets in tests of the edge.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Everything that a socket brings until its end; the other direction is not touched. @throws when it breaks. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end');
  return Buffer.concat(chunks);
}

/** Resolves when a socket is closed, however that came about. */
export function closed(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));
}

/** Sockets of this process that the event loop knows. @param but those that were there before. */
export function openSockets(but: readonly unknown[] = []): unknown[] {
  // For debugging, so not documented. What is documented counts them, and those of tests before may go meanwhile.
  const { _getActiveHandles } = process as unknown as { _getActiveHandles(): object[] };
  const handles = _getActiveHandles.call(process);
  return handles.filter((one) => (one instanceof Socket || one.constructor.name === 'TCP') && !but.includes(one));
}

/** What Node sends first to a server of this name. */
export async function clientHello(servername: string): Promise<Buffer> {
  const server = createServer();
  const port = await listen(server);
  const client = connectTls({ port, host: '127.0.0.1', servername });
  client.on('error', () => {});
  const [socket] = await once(server, 'connection');
  const [bytes] = await once(socket, 'data');
  client.destroy();
  server.close();
  return bytes as Buffer;
}
