// Visitors who speak HTTP/2, and upstreams for them.

import { createServer, type RequestListener, type Server } from 'node:http';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { listen } from '../sockets.ts';
import { cut, type Edge } from '../tls/support.ts';

export const NAME = 'app.tunnel.localhost';

/** Makes a server of HTTP/1.1 available under a name. Ends with the test. */
export async function serve(edge: Edge, onRequest: RequestListener, name = NAME): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 5000 }, onRequest);
  const endpoint = edge.serve(name, await listen(server));
  onTestFinished(() => {
    edge.endpoints.remove(endpoint);
    server.close();
    server.closeAllConnections();
  });
  return server;
}

/** Makes a server available of which the test says byte for byte what it answers. Ends with the test. */
export async function script(edge: Edge, onRequest: (socket: Socket, request: string) => void): Promise<void> {
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => onRequest(socket, String(chunk)));
  });
  const endpoint = edge.serve(NAME, await listen(server));
  onTestFinished(() => {
    edge.endpoints.remove(endpoint);
    server.close();
  });
}

/** A visitor. Ends with the test. */
export async function visit(edge: Edge, name = NAME): Promise<ClientHttp2Session> {
  const session = await edge.visitHttp2(name);
  onTestFinished(() => cut(session));
  return session;
}

export interface Answer {
  headers: IncomingHttpHeaders;
  body: Buffer;
  trailers: IncomingHttpHeaders | undefined;
  /** How the stream ended. */
  code: number;
}

/** What a request is answered with. Never rejects. */
export async function answer(stream: ClientHttp2Stream): Promise<Answer> {
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders | undefined;
  const chunks: Buffer[] = [];
  stream.on('response', (fields) => {
    headers = fields;
  });
  stream.on('trailers', (fields) => {
    trailers = fields;
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => {});
  await new Promise((resolve) => stream.once('close', resolve));
  return { headers, body: Buffer.concat(chunks), trailers, code: stream.rstCode ?? 0 };
}

export function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}, body?: Buffer): Promise<Answer> {
  const stream = session.request({ ':path': '/', ...headers }, { endStream: body === undefined });
  const answered = answer(stream);
  if (body !== undefined) Readable.from(piecesOf(body)).pipe(stream);
  return answered;
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
}
