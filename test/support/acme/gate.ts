// Holds connections to a port until they are let through: what an authority asks for can be looked at before it is answered.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Gate {
  /** On 127.0.0.1. */
  port: number;
  /** The first bytes of the next connection that comes, once they are there. */
  next(): Promise<string>;
  /** Lets through what waits, and all that comes. */
  open(): void;
  close(): void;
}

export async function startGate(target: number): Promise<Gate> {
  const waiting: { socket: Socket; first: Buffer }[] = [];
  const sockets = new Set<Socket>();
  const readers: ((text: string) => void)[] = [];
  let isOpen = false;
  const pass = (socket: Socket, first: Buffer) => {
    const further = connect(target, '127.0.0.1');
    sockets.add(further);
    for (const one of [socket, further]) one.on('error', () => one.destroy());
    further.write(first);
    socket.pipe(further).pipe(socket);
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', (first) => {
      socket.pause();
      readers.shift()?.(first.toString('latin1'));
      if (isOpen) pass(socket, first);
      else waiting.push({ socket, first });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    next: () => new Promise((resolve) => readers.push(resolve)),
    open() {
      isOpen = true;
      for (const { socket, first } of waiting.splice(0)) pass(socket, first);
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
