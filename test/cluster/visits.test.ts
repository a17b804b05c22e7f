// Visitors who come to a node that does not have their tunnel: they are served as by the node that has it.

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { certificate, listen } from '../agent/client/peer.ts';
import { eventually } from '../support/eventually.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { newSession, resumes } from '../support/tls-session.ts';
import { visit } from '../support/visit.ts';
import { agentAt, type Cluster, named, serve, service, startCluster } from './support.ts';

const MB = 2 ** 20;

describe.runIf(onServer)('a visitor at another node', () => {
  let cluster: Cluster;
  let owner: TestGateway;
  let entry: TestGateway;
  beforeAll(async () => {
    cluster = await startCluster(2);
    [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
  });
  afterAll(() => cluster?.close());

  const agent = () => agentAt(owner, cluster.account);

  test('gets what the tunnel answers over HTTP, and the service learns who the visitor is', async () => {
    const url = await serve(await agent(), await named('one'));
    const { host } = new URL(url);
    const answer = await visit(url, entry.http, { path: '/path?query' });
    expect(answer).toMatchObject({ status: 200, body: `one ${host} /path?query` });
    expect(answer.headers['x-forwarded']).toBe('127.0.0.1 http');
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('resumes the session of TLS of the first one: %s', async (version) => {
    const url = await serve(await agent(), await named('resumed'), { protocol: 'https' });
    const { hostname: servername } = new URL(url);
    const terms = { servername, ca: owner.ca, minVersion: version, maxVersion: version };
    const session = await newSession(owner.https, terms);
    for (const node of [owner, entry]) expect(await resumes(node.https, { ...terms, session })).toBe(true);
  });

  test('shares the connection behind the agent with the one before', async () => {
    const sockets = new Set<Socket>();
    const port = await service((request, response) => {
      sockets.add(request.socket);
      response.end('here');
    });
    const url = await serve(await agent(), port);
    const headers = { connection: 'close' };
    // It waits a second for the next visitor, who may be later on a busy machine.
    await eventually(async () => {
      sockets.clear();
      for (let i = 0; i < 3; i++) expect((await visit(url, entry.http, { headers })).body).toBe('here');
      expect(sockets.size).toBe(1);
    });
  });

  test('is told the same of a name that is nobody’s, and of one whose agent is offline', async () => {
    const error = async (name: string) => (await visit(`http://${name}/`, entry.http)).body;
    expect(await error('nobody.tunnel.localhost')).toContain('ERR_GATEWAY_3200');
    const client = await agent();
    const url = await serve(client, await named('gone'));
    const { hostname } = new URL(url);
    expect((await visit(url, entry.http)).status).toBe(200);
    await client.client.close();
    await eventually(async () => expect(await error(hostname)).toContain('ERR_GATEWAY_3200'));
  });

  test('comes over HTTPS with HTTP/1.1 and HTTP/2, and from http:// is led to https://', async () => {
    const url = await serve(await agent(), await named('secure'), { protocol: 'https' });
    const { host, hostname } = new URL(url);
    expect(await visit(url, entry.https, { ca: entry.ca })).toMatchObject({ status: 200, body: `secure ${host} /` });
    const redirection = await visit(`http://${hostname}/there`, entry.http);
    expect([redirection.status, redirection.headers.location]).toEqual([
      307,
      `https://${hostname}:${entry.https.split(':')[1]}/there`,
    ]);
    const [address, port] = entry.https.split(':');
    const session = connectHttp2(`https://${hostname}`, {
      createConnection: () =>
        connectTls({ host: address, port: Number(port), servername: hostname, ca: entry.ca, ALPNProtocols: ['h2'] }),
    });
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':path': '/two', ':authority': hostname });
    expect(await text(stream)).toBe(`secure ${hostname} /two`);
  });

  test('uploads and downloads 20 MB, unchanged, while small answers go on', async () => {
    const body = randomBytes(20 * MB);
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    const port = await service(async (request, response) => {
      if (request.url === '/small') return void response.end('small');
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      response.setHeader('x-digest', digest(Buffer.concat(chunks)));
      response.end(Buffer.concat(chunks));
    });
    const url = await serve(await agent(), port);
    const upload = visit(url, entry.http, { method: 'POST', body });
    let isDone = false;
    const done = upload.finally(() => {
      isDone = true;
    });
    let small = 0;
    while (!isDone) {
      expect((await visit(`${url}/small`, entry.http)).body).toBe('small');
      small++;
    }
    const answer = await done;
    expect([answer.status, answer.headers['x-digest']]).toEqual([200, digest(body)]);
    expect(answer.body).toBe(body.toString());
    expect(small).toBeGreaterThan(0);
  });

  test('speaks over a WebSocket, both ways', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => server.close());
    server.on('connection', (socket) => socket.on('message', (data) => socket.send(`echo ${data}`)));
    await once(server, 'listening');
    const url = await serve(await agent(), (server.address() as { port: number }).port);
    const { host } = new URL(url);
    const socket = new WebSocket(`ws://${entry.http}/`, { headers: { host } });
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    for (const word of ['one', 'two']) {
      socket.send(word);
      const [data] = await once(socket, 'message');
      expect(String(data)).toBe(`echo ${word}`);
    }
    socket.close(1000);
    expect((await once(socket, 'close'))[0]).toBe(1000);
  });

  test('reaches a TCP port of the other node, and gets the first word of a server that speaks first', async () => {
    const server = createTcpServer((socket) => {
      socket.write('220 ready\n');
      socket.on('data', (bytes) => socket.write(`got ${bytes}`));
      socket.on('end', () => socket.end());
      socket.on('error', () => {});
    });
    onTestFinished(() => void server.close());
    const url = await serve(await agent(), await listen(server), { protocol: 'tcp' });
    const { port } = new URL(url);
    const [address = ''] = entry.http.split(':');
    const socket = await eventually(() => connected(Number(port), address));
    onTestFinished(() => void socket.destroy());
    expect(String((await once(socket, 'data'))[0])).toBe('220 ready\n');
    socket.write('hello');
    expect(String((await once(socket, 'data'))[0])).toBe('got hello');
    socket.end();
    await once(socket, 'end');
  });

  test('speaks TLS with the service itself, where the tunnel passes it through', async () => {
    const url = await serve(await agent(), await tlsEcho(), { protocol: 'tls' });
    const { hostname } = new URL(url);
    const [address, port] = entry.https.split(':');
    const socket = connectTls({ host: address, port: Number(port), servername: hostname, rejectUnauthorized: false });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    socket.write('through');
    expect(String((await once(socket, 'data'))[0])).toBe('through');
  });
});

async function connected(port: number, address: string): Promise<Socket> {
  const socket = connect(port, address);
  await once(socket, 'connect');
  return socket;
}

/** A TLS service that echoes. @returns its port. */
async function tlsEcho(): Promise<number> {
  const server = createTlsServer(await certificate('localhost', '127.0.0.1'), (socket) =>
    socket.on('error', () => {}).pipe(socket),
  );
  onTestFinished(() => void server.close());
  return listen(server);
}
