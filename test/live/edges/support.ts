// Edges for tests against the whole gateway: made by the API, served by labelled tunnels of the SDK, visited at the public
// listeners.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { Agent } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { expect, onTestFinished } from 'vitest';
import { reserve } from '../../support/agents/live.ts';
import type { SdkListener, SdkSession } from '../../support/agents/sdk.ts';
import { listen } from '../../support/events/traffic.ts';
import type { Owner, TestGateway } from '../../support/gateway/gateway.ts';
import { type Visit, type VisitOptions, visit } from '../../support/visit.ts';

/** Whoever is at the other end of visits: where the listeners are, and what is trusted. */
export type Listeners = Pick<TestGateway, 'http' | 'https' | 'ca'>;

let names = 0;

/** A name that no other test of this process has. */
export const newName = (what = 'edge') => `${what}-${++names}.tunnel.localhost`;

/** Calls the API. @returns the body of the answer, which has to be a good one. */
// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
export async function done({ call }: Pick<Owner, 'call'>, method: string, path: string, body?: object): Promise<any> {
  const answer = await call(method, path, body);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.body;
}

/** The settings of a backend module: a new tunnel group with these labels. */
export async function backendOf(owner: Pick<Owner, 'call'>, labels: object): Promise<{ backend_id: string }> {
  return { backend_id: (await done(owner, 'POST', '/backends/tunnel_group', { labels })).id };
}

export interface EdgeOptions {
  kind?: 'https' | 'tls';
  /** A new one, which is reserved, when left out. */
  name?: string;
  /** Of the backend: of the edge, or of a route for all paths. Without them there is none, and no route. */
  labels?: object;
  /** Further modules of the edge or the route. */
  modules?: object;
}

export interface TestEdge {
  id: string;
  name: string;
  /** Its path in the API. */
  at: string;
  /** That of its route; of the edge itself where there is none. */
  host: string;
  /** The last part of `host`. */
  hostId: string;
}

/** Makes an edge with a name of its own. */
export async function newEdge(
  owner: Pick<Owner, 'call'>,
  { kind = 'https', name = newName(kind), labels, modules = {} }: EdgeOptions = {},
): Promise<TestEdge> {
  await reserve(owner, name);
  const backend = labels && (await backendOf(owner, labels));
  const ofEdge = kind === 'tls' ? { ...modules, backend } : {};
  const { id } = await done(owner, 'POST', `/edges/${kind}`, { hostports: [`${name}:443`], ...ofEdge });
  const at = `/edges/${kind}/${id}`;
  if (kind === 'tls' || !backend) return { id, name, at, host: at, hostId: id };
  const host = await newRoute(owner, { at }, { match: '/', backend, ...modules });
  return { id, name, at, host, hostId: host.slice(host.lastIndexOf('/') + 1) };
}

/** Adds a route, for a prefix unless told otherwise. @returns its path in the API. */
export async function newRoute(owner: Pick<Owner, 'call'>, { at }: { at: string }, body: object): Promise<string> {
  const { id } = await done(owner, 'POST', `${at}/routes`, { match_type: 'path_prefix', ...body });
  return `${at}/routes/${id}`;
}

/** A tunnel with labels, which ends with its session. @param upstream a URL. */
export function labelled(session: SdkSession, labels: Record<string, string>, upstream: string): Promise<SdkListener> {
  const builder = session.labeledListener();
  for (const [key, value] of Object.entries(labels)) builder.label(key, value);
  return builder.listenAndForward(upstream);
}

export interface EdgeVisitOptions extends Omit<VisitOptions, 'ca'> {
  /** The address on this machine that the visitor comes from: any of 127.0.0.0/8. */
  from?: string;
}

/** Visits an edge over HTTPS. Visitors from one address share connections, as browsers' tabs do. */
export function visitEdge(
  { https, ca }: Listeners,
  { name }: { name: string },
  path = '/',
  { from = '127.0.0.1', ...more }: EdgeVisitOptions = {},
): Promise<Visit> {
  const agent = agents.get(from) ?? new Agent({ keepAlive: true, localAddress: from });
  agents.set(from, agent);
  return visit(`https://${name}${path}`, https, { ca, agent, ...more });
}

const agents = new Map<string, Agent>();

/** A visitor over HTTP/2. Ends with the test. */
export async function http2Visitor({ https, ca }: Listeners, { name }: { name: string }) {
  const [host, port] = https.split(':');
  const to = { host, port: Number(port), servername: name, ca, ALPNProtocols: ['h2'] };
  const session = connectHttp2(`https://${name}`, { createConnection: () => connectTls(to) });
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  await once(session, 'connect');
  return (path = '/', headers: Record<string, string> = {}, body = '') =>
    ask(session, path, { ':authority': name, ...headers }, body);
}

async function ask(session: ClientHttp2Session, path: string, headers: Record<string, string>, body: string) {
  const method = body ? 'POST' : 'GET';
  const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === '' });
  if (body) stream.end(body);
  const [fields] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return { status: fields[':status'], headers: fields, body: Buffer.concat(chunks) };
}

/**
 * Says something over TLS to a TLS edge that ends it, before an upstream that echoes.
 * @param from the address that the visitor comes from. @returns what comes back, or why nothing does: `closed: …`.
 */
export function sayOverTls(
  { https, ca }: Listeners,
  { name }: { name: string },
  from = '127.0.0.1',
  options: ConnectionOptions = {},
): Promise<string> {
  const [host, port] = https.split(':');
  const to = { host, port: Number(port), servername: name, ca, localAddress: from };
  const socket = connectTls({ ...to, ...options });
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('secureConnect', () => socket.end(`hello over ${socket.getProtocol()}`));
  socket.setEncoding('utf8').on('data', (piece) => {
    text += piece;
  });
  return new Promise((resolve) => {
    socket.on('end', () => resolve(text || 'closed'));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(`closed: ${code}`));
    socket.on('close', () => resolve('closed'));
  });
}

/** The number of the error that a visitor was shown; undefined when it was none of the gateway's. */
export function errorOf({ headers }: Pick<Visit, 'headers'>): number | undefined {
  const [, number] = /^ERR_GATEWAY_(\d+)$/.exec(String(headers['gateway-error-code'])) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** What an upstream says of a request in its answer. */
export interface Shown {
  upstream: string;
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export const shown = ({ body }: Pick<Visit, 'body'>): Shown => JSON.parse(body);

export interface ShowingUpstream {
  url: string;
  /** Requests that it got. */
  requests: number;
  /** Lets `/held` be answered, once for each request that waits. */
  release: (() => void)[];
}

/** Where it is enough to be worth compressing. */
const PADDING = ' '.repeat(1000);

/**
 * An upstream that answers HTTP with what it was asked (`/status/<n>` with that status), and echoes whatever else comes over TCP. Ends with the test.
 * @param name what it calls itself.
 */
export async function startShowing(name = 'one'): Promise<ShowingUpstream> {
  const http = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    upstream.requests++;
    const { method, url, headers } = request;
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const [, status] = /^\/status\/(\d+)/.exec(url ?? '') ?? [];
    if (url === '/held') await new Promise<void>((go) => void upstream.release.push(go));
    response.writeHead(Number(status ?? 200), { 'content-type': 'application/json' });
    response.end(JSON.stringify({ upstream: name, method, url, headers, body }) + PADDING);
  });
  const server = createTcpServer((socket: Socket) => {
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      if (/^[A-Z]+ [^\r\n]* HTTP\/1/.test(String(first))) http.emit('connection', socket);
      else socket.pipe(socket);
      socket.resume();
    });
  });
  const upstream: ShowingUpstream = { url: await listen(server), requests: 0, release: [] };
  onTestFinished(() => void http.close());
  return upstream;
}
