// What the tests of TLS need around the gateway: an account with an upstream behind tunnels of the SDK, edges of both
// kinds, and visitors who see how far they come. It ends with the file, not with the test.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { expect } from 'vitest';
import { newCredential, reserve } from '../support/agents/live.ts';
import { openSdkSession, type SdkSession } from '../support/agents/sdk.ts';
import { type Owner, sharedGateway, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import type { Place } from '../support/gateway/place.ts';
import type { Issuer } from '../support/issuer.ts';

/** What tunnels of the lab are found by. */
export const LABELS = { app: 'lab' };

/** What came of a visit over TLS. */
export interface Come {
  /** What upstream was asked with; undefined when there was no answer of upstream. */
  seen: IncomingHttpHeaders | undefined;
  status: number | undefined;
  /** Whether the visitor took the handshake for done. */
  isSecure: boolean;
  /** The code of the error that the visitor got; undefined when there was none. */
  error: string | undefined;
}

export interface Edge {
  id: string;
  /** Its path in the API. */
  path: string;
  set(module: string, settings: object): Promise<void>;
  unset(module: string): Promise<void>;
}

export interface TlsLab {
  gateway: TestGateway;
  /** With a place, the gateway's first: it is there after a restart, too. */
  account: Owner;
  session: SdkSession;
  upstream: { url: string; address: string; asked: number; connections: number };
  /** Uploads authorities. @returns their ids. */
  authorities(...issuers: Issuer[]): Promise<string[]>;
  /** An edge with a backend in which the tunnel of the lab is; its name is reserved unless it has been. */
  edge(kind: 'https' | 'tls', ...names: string[]): Promise<Edge>;
  /** Opens a connection and speaks TLS. @returns it once its handshake is done; rejects when that fails. */
  connect(name: string | undefined, options?: ConnectionOptions): Promise<TLSSocket>;
  /** One request over HTTP/1.1 on a connection of its own. */
  come(name: string, options?: ConnectionOptions, lines?: string[]): Promise<Come>;
  /** The same over HTTP/2. */
  comeByHttp2(name: string, options?: ConnectionOptions, headers?: OutgoingHttpHeaders): Promise<Come>;
  /** A connection of HTTP/2. */
  http2(name: string, options?: ConnectionOptions): Promise<ClientHttp2Session>;
  close(): Promise<void>;
}

/** @param place data that outlives the lab: with a gateway of its own. */
export async function startTlsLab({ place }: { place?: Place } = {}): Promise<TlsLab> {
  const gateway = await (place ? startTestGateway({}, { place }) : sharedGateway());
  const account = place ? gateway : await gateway.newAccount();
  const { session, close } = await openSdkSession(gateway, (await newCredential(account)).authtoken);
  const { upstream, end } = await startUpstream();
  await session.labeledListener().label('app', LABELS.app).listenAndForward(`tcp://${upstream.address}`);
  const created = async (path: string, body: object) => {
    const { status, body: made, text } = await account.call('POST', path, body);
    expect(status, text).toBe(201);
    return made.id as string;
  };
  const backend = { backend_id: await created('/backends/tunnel_group', { labels: LABELS }) };
  const reserved = new Set<string>();
  const [host, port] = gateway.https.split(':');
  const to = (name: string | undefined, options?: ConnectionOptions) => {
    return connect({ host, port: Number(port), ca: gateway.ca, servername: name, ...options });
  };
  return {
    gateway,
    account,
    session,
    upstream,
    authorities: (...issuers) =>
      Promise.all(issuers.map(({ cert }) => created('/certificate_authorities', { ca_pem: cert }))),
    async edge(kind, ...names) {
      for (const name of names) if (!reserved.has(name)) await reserve(account, name);
      for (const name of names) reserved.add(name);
      const hostports = names.map((name) => `${name}:443`);
      const id = await created(`/edges/${kind}`, { hostports, ...(kind === 'tls' && { backend }) });
      const path = `/edges/${kind}/${id}`;
      if (kind === 'https') await created(`${path}/routes`, { match_type: 'path_prefix', match: '/', backend });
      return {
        id,
        path,
        async set(module, settings) {
          const { status, text } = await account.call('PUT', `${path}/${module}`, settings);
          expect(status, text).toBe(200);
        },
        async unset(module) {
          expect((await account.call('DELETE', `${path}/${module}`)).status).toBe(204);
        },
      };
    },
    async connect(name, options) {
      const socket = to(name, options);
      await once(socket, 'secureConnect');
      return socket.on('error', () => {});
    },
    async http2(name, options) {
      const session = http2On(to(name, { ALPNProtocols: ['h2'], ...options }), name);
      await once(session, 'connect');
      return session;
    },
    async come(name, options, lines) {
      const socket = to(name, options);
      const come = await askOn(socket, name, lines);
      socket.destroy();
      return come;
    },
    async comeByHttp2(name, options, headers) {
      const socket = to(name, { ALPNProtocols: ['h2'], ...options });
      const come: Come = { ...NOTHING };
      watch(socket, come);
      const session = http2On(socket, name);
      const { seen, status } = await askHttp2On(session, headers);
      session.destroy();
      socket.destroy();
      return { ...come, seen, status };
    },
    async close() {
      await close();
      end();
      if (place) await gateway.close();
    },
  };
}

/** Asks over HTTP/1.1 on a connection that is open, or about to be. @param lines more of the head. */
export function askOn(socket: TLSSocket, host: string, lines: string[] = []): Promise<Come> {
  const come: Come = { ...NOTHING };
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const finish = () => {
      socket.off('data', take).off('close', finish);
      resolve(come);
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      const answer = readAnswer(Buffer.concat(chunks).toString());
      if (!answer) return;
      Object.assign(come, answer);
      finish();
    };
    watch(socket, come);
    socket.on('data', take).on('close', finish);
    socket.write(['GET / HTTP/1.1', `Host: ${host}`, ...lines, '', ''].join('\r\n'));
  });
}

/** Asks over HTTP/2 on a session. @param headers pseudo-headers too. */
export async function askHttp2On(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): Promise<Come> {
  const come: Come = { ...NOTHING, isSecure: true };
  const chunks: Buffer[] = [];
  const request = session.request({ ':path': '/', ...headers });
  request.on('response', ({ ':status': status }) => {
    come.status = status;
  });
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('error', () => {});
  await once(request, 'close').catch(() => {});
  if (come.status === 200) come.seen = JSON.parse(Buffer.concat(chunks).toString());
  return come;
}

/** HTTP/2 on a connection. */
export function http2On(socket: TLSSocket, host: string): ClientHttp2Session {
  const session = connectHttp2(`https://${host}`, { createConnection: () => socket });
  return session.on('error', () => {});
}

/** Resolves when a connection is closed, however that came about. */
export function closed(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve()).resume()));
}

const NOTHING: Come = { seen: undefined, status: undefined, isSecure: false, error: undefined };

function watch(socket: TLSSocket, come: Come): void {
  socket.on('secureConnect', () => {
    come.isSecure = true;
  });
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    come.error = code;
  });
}

/** An answer to a GET whose length is stated; undefined until it is there. */
function readAnswer(text: string): Pick<Come, 'status' | 'seen'> | undefined {
  const end = text.indexOf('\r\n\r\n') + 4;
  if (end < 4) return undefined;
  const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, end))?.[1]);
  if (text.length < end + length) return undefined;
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
  return { status, seen: status === 200 ? JSON.parse(text.slice(end)) : undefined };
}

/** Answers with the header fields that it was asked with, as JSON. */
async function startUpstream(): Promise<{ upstream: TlsLab['upstream']; end(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    upstream.asked++;
    response.end(JSON.stringify(request.headers));
  });
  server.on('connection', (socket: Socket) => {
    upstream.connections++;
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const upstream = { url: `http://${address}`, address, asked: 0, connections: 0 };
  const end = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { upstream, end };
}
