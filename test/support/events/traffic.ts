// Traffic that says of itself whether it arrived whole: an upstream on this machine, and visitors who ask it for much.

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { onTestFinished } from 'vitest';
import { visit } from '../visit.ts';

const MIB = 2 ** 20;

export interface Upstream {
  url: string;
  server: Server;
  /** Requests that are being answered, and the most that ever were at once. */
  open: number;
  most: number;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Starts an upstream, which ends with the test. Without a handler it answers `GET /<n>` with n MiB, whose checksum is the
 * trailer `Checksum`, and POST with the checksum of what it got.
 */
export async function startUpstream(handler: Handler = bulk): Promise<Upstream> {
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    upstream.open++;
    upstream.most = Math.max(upstream.most, upstream.open);
    response.on('close', () => upstream.open--);
    await handler(request, response);
  });
  const upstream: Upstream = { url: await listen(server), server, open: 0, most: 0 };
  return upstream;
}

/** Listens on a free port until the end of the test. @returns its URL. */
export async function listen(server: NetServer): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bulk(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') {
    response.writeHead(200, { trailer: 'Checksum' });
    const checksum = createHash('sha256');
    const source = noise(Number(request.url?.slice(1)), checksum);
    for await (const block of source) if (!response.write(block)) await once(response, 'drain');
    response.addTrailers({ checksum: checksum.digest('hex') });
    response.end();
  } else {
    const checksum = createHash('sha256');
    await pipeline(request, checksum);
    response.end(checksum.digest('hex'));
  }
}

/** Blocks of noise, no two alike. */
async function* noise(mebibytes: number, checksum: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  const base = randomBytes(MIB);
  for (let i = 0; i < mebibytes; i++) {
    const block = Buffer.from(base);
    block.writeUInt32BE(i);
    checksum.update(block);
    yield block;
  }
}

interface Sums {
  sent: string;
  received: string;
  bytes: number;
}

/** Where a visitor goes: a URL, and the listener that it is served at. */
export interface Place {
  url: string;
  listener: string;
}

/** Fetches so many MiB of a bulk upstream. */
export async function download({ url, listener }: Place, mebibytes: number): Promise<Sums> {
  const response = await ask({ url, listener }, 'GET', `/${mebibytes}`);
  const checksum = createHash('sha256');
  let bytes = 0;
  for await (const chunk of response) {
    checksum.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { sent: String(response.trailers.checksum), received: checksum.digest('hex'), bytes };
}

/** Sends so many MiB to a bulk upstream. @param length whether it is said beforehand; otherwise they come in chunks. */
export async function upload({ url, listener }: Place, mebibytes: number, length: boolean): Promise<Sums> {
  const checksum = createHash('sha256');
  const headers = length ? { 'content-length': mebibytes * MIB } : undefined;
  const source = Readable.from(noise(mebibytes, checksum), { objectMode: false });
  const response = await ask({ url, listener }, 'POST', '/', headers, source);
  let received = '';
  for await (const chunk of response.setEncoding('utf8')) received += chunk;
  return { sent: checksum.digest('hex'), received, bytes: mebibytes * MIB };
}

function ask(
  { url, listener }: Place,
  method: string,
  path: string,
  headers: Record<string, string | number> = {},
  body?: Readable,
): Promise<IncomingMessage> {
  const [host, port] = listener.split(':');
  const options = { host, port, method, path, headers: { ...headers, host: new URL(url).host }, agent: false as const };
  return new Promise((resolve, reject) => {
    const sent = request(options, resolve).on('error', reject);
    if (body) pipeline(body, sent).catch(reject);
    else sent.end();
  });
}

/** So many visitors at once. @returns how many got each status. */
export async function crowd({ url, listener }: Place, visitors: number): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  const one = async () => {
    const { status } = await visit(url, listener);
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: visitors }, one));
  return statuses;
}
