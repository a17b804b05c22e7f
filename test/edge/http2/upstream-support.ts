// Services that speak HTTP/2 and nothing else, and visitors with HTTP/1.1.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { request as overHttps, type RequestOptions } from 'node:https';
import { onTestFinished } from 'vitest';
import { listen, readAll } from '../sockets.ts';
import type { Edge } from '../tls/support.ts';

export const NAME = 'grpc.tunnel.localhost';

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** Makes a service available under the name. Ends with the test. */
export async function serve(
  edge: Edge,
  onStream: OnStream,
): Promise<{ server: Http2Server; sessions: Set<ServerHttp2Session> }> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session.on('error', () => {})));
  server.on('stream', (stream, headers) =>
    onStream(
      stream.on('error', () => {}),
      headers,
    ),
  );
  const endpoint = edge.serve(NAME, await listen(server), { upstreamProtocol: 'http2' });
  onTestFinished(() => {
    edge.endpoints.remove(endpoint);
    server.close();
    for (const session of sessions) session.destroy();
  });
  return { server, sessions };
}

/** A request of HTTP/1.1. */
export async function ask(
  edge: Edge,
  options: RequestOptions = {},
  body?: Buffer,
): Promise<{ response: IncomingMessage; body: Buffer }> {
  const { response, rest } = await begin(edge, options, body);
  return { response, body: await rest };
}

/** The same, with the body of the answer still to come. */
export async function begin(edge: Edge, options: RequestOptions = {}, body?: Buffer) {
  const sent = overHttps({
    host: '127.0.0.1',
    port: edge.port,
    servername: NAME,
    ca: edge.ca,
    agent: false,
    ...options,
    headers: { Host: NAME, ...options.headers },
  });
  sent.on('error', () => {}).end(body); // The response hears of it too.
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { response, rest: readAll(response as never) };
}
