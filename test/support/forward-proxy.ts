// A forward proxy as companies have them: HTTP CONNECT (RFC 9110) and SOCKS5 (RFC 1928, RFC 1929), each on a port of its own.

import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Where a connection is to go. */
interface Target {
  host: string;
  port: number;
}

/** How the proxy behaves; it may be changed at any time. */
export interface ProxyRules {
  /** Who may connect; null for anybody. */
  login: { user: string; password: string } | null;
  /** Whether all targets are forbidden. */
  isForbidden: boolean;
  /** Finds the target that is meant: this is the proxy's DNS. */
  resolve(target: Target): Target;
}

export interface ForwardProxy {
  readonly rules: ProxyRules;
  /** The ports: for CONNECT, the same over TLS (0 without a certificate), and for SOCKS. */
  readonly ports: { http: number; https: number; socks: number };
  /** The targets that clients asked for, as `host:port`. */
  readonly asked: string[];
  /** What clients sent to their targets through the proxy. */
  sent(): Buffer;
  /** Breaks all connections. */
  cut(): void;
  close(): Promise<void>;
}

/** @param certificate for the proxy itself, with its key, in PEM. */
export async function startForwardProxy(certificate?: { cert: string; key: string }): Promise<ForwardProxy> {
  const rules: ProxyRules = { login: null, isForbidden: false, resolve: (target) => target };
  const sockets = new Set<Duplex>();
  const asked: string[] = [];
  const chunks: Buffer[] = [];

  /** Connects and joins. @throws {Error} when the target cannot be reached. */
  async function join(client: Duplex, target: Target, onConnected: () => void): Promise<void> {
    const upstream = connect(rules.resolve(target));
    keep(upstream);
    await once(upstream, 'connect');
    onConnected();
    client.on('data', (chunk: Buffer) => void chunks.push(chunk));
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
    client.pipe(upstream).pipe(client);
  }

  function keep(socket: Duplex): void {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  }

  const answerConnect = (server: HttpServer) =>
    server.on('connection', keep).on('connect', (request, client: Duplex) => {
      keep(client);
      const refuse = (status: string, more = '') =>
        client.end(`HTTP/1.1 ${status}\r\n${more}Content-Length: 0\r\n\r\n`);
      const { hostname, port } = new URL(`http://${request.url}`);
      asked.push(String(request.url));
      const { login } = rules;
      const wanted = login && `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
      if (wanted && request.headers['proxy-authorization'] !== wanted)
        return refuse('407 Proxy Authentication Required', 'Proxy-Authenticate: Basic realm="company"\r\n');
      if (rules.isForbidden) return refuse('403 Forbidden');
      // A URL leaves out the port 80.
      const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
      join(client, target, () => client.write('HTTP/1.1 200 Connection established\r\n\r\n')).catch(() =>
        refuse('502 Bad Gateway'),
      );
    });

  async function answerSocks(client: Socket): Promise<void> {
    let wake = () => {};
    const onReadable = () => wake();
    client.on('readable', onReadable);
    const take = async (bytes: number): Promise<Buffer> => {
      for (;;) {
        const chunk: Buffer | null = client.read(bytes);
        if (chunk) return chunk;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    const [version, count = 0] = await take(2);
    if (version !== 5) return void client.destroy();
    const methods = [...(await take(count))];
    const method = rules.login ? 2 : 0;
    if (!methods.includes(method)) return void client.end(Buffer.from([5, 0xff]));
    client.write(Buffer.from([5, method]));
    if (rules.login) {
      const user = String(await take((await take(2))[1] ?? 0));
      const password = String(await take((await take(1))[0] ?? 0));
      const isRight = user === rules.login.user && password === rules.login.password;
      client.write(Buffer.from([1, isRight ? 0 : 1]));
      if (!isRight) return void client.end();
    }
    const kind = (await take(4))[3];
    const bytes = await take(kind === 1 ? 4 : kind === 4 ? 16 : ((await take(1))[0] ?? 0));
    const hex = bytes.toString('hex').match(/..../g) ?? [];
    const host = kind === 1 ? [...bytes].join('.') : kind === 4 ? hex.join(':') : String(bytes);
    const port = (await take(2)).readUInt16BE();
    asked.push(`${host}:${port}`);
    const reply = (code: number) => client.write(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]));
    if (rules.isForbidden) return void reply(2);
    client.off('readable', onReadable);
    await join(client, { host, port }, () => reply(0)).catch(() => reply(5));
  }

  const http = answerConnect(createHttpServer());
  const https = certificate && answerConnect(createHttpsServer(certificate));
  const socks = createServer((client) => {
    keep(client);
    void answerSocks(client);
  });
  const servers: Server[] = [http, socks, ...(https ? [https] : [])];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const portOf = (server: Server) => (server.address() as AddressInfo).port;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    rules,
    ports: { http: portOf(http), https: https ? portOf(https) : 0, socks: portOf(socks) },
    asked,
    sent: () => Buffer.concat(chunks),
    cut,
    async close() {
      const closed = servers.map((server) => once(server.close(), 'close'));
      cut();
      await Promise.all(closed);
    },
  };
}
