// A server on this machine that policies ask: it answers as it is told, and keeps what it was asked.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface AskedRequest {
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Answer = (request: AskedRequest, response: ServerResponse, incoming: IncomingMessage) => void;

export interface AskedServer {
  /** `http://127.0.0.1:…` */
  url: string;
  port: number;
  /** What it was asked, in order. */
  asked: AskedRequest[];
  /** How many connections it was sent. */
  connections: number;
  /** What it answers from now on. */
  answer: Answer;
  /** Closes all connections, idle or not. */
  disconnect(): void;
  close(): void;
}

/** Answers with a text, until it is told otherwise. */
export async function startAskedServer(answer: Answer = says(200, 'fine')): Promise<AskedServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: 60_000 }, async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = '', url: target = '', headers } = incoming;
    const request = { method, target, headers, body: Buffer.concat(chunks).toString() };
    asked.asked.push(request);
    asked.answer(request, response, incoming);
  });
  server.on('connection', (socket: Socket) => {
    asked.connections++;
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const disconnect = () => {
    for (const socket of sockets) socket.destroy();
  };
  const asked: AskedServer = {
    url: `http://127.0.0.1:${port}`,
    port,
    asked: [],
    connections: 0,
    answer,
    disconnect,
    close() {
      server.close();
      disconnect();
    },
  };
  return asked;
}

/** A whole answer. */
export function says(status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    response.end(body);
  };
}
