// Backends at static addresses, which the gateway connects to itself.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { listen } from '../../edge/sockets.ts';
import { type Account, sharedGateway, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { type Issuer, newIssuer } from '../../support/issuer.ts';
import {
  backendOf,
  done,
  errorOf,
  newEdge,
  newName,
  newRoute,
  sayOverTls,
  shown,
  startShowing,
  visitEdge,
} from './support.ts';

let ca: Issuer;
let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  ca = await newIssuer('CN=authority of upstreams');
  const file = join(inject('run'), 'upstreams.pem');
  await writeFile(file, ca.cert);
  const reached = { BACKEND_HOSTS: '127.0.0.0/8,localhost', POLICY_FETCH: 'public' };
  gateway = await startTestGateway({ ...reached, BACKEND_CA_FILE: file });
  account = await gateway.newAccount();
});
afterAll(() => gateway?.close());

const portOf = (url: string) => Number(new URL(url).port);

async function make(kind: string, body: object, owner = account): Promise<string> {
  return (await done(owner, 'POST', `/backends/${kind}`, body)).id;
}

const toPort = (port: number, more: object = {}) => make('static', { address: `localhost:${port}`, ...more });

async function edgeOf(backendId: string, owner = account) {
  const edge = await newEdge(owner);
  await newRoute(owner, edge, { match: '/', backend: { backend_id: backendId } });
  return edge;
}

/** A TLS server before an upstream, with a certificate for these names. */
async function startTls(port: number, dns: string[], issuer = ca) {
  const { cert, key } = await issuer.issue({ subject: 'CN=upstream', dns, purpose: 'server' });
  const seen: unknown[] = [];
  const server = createTlsServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    seen.push([socket.alpnProtocol, (socket as { servername?: string }).servername]);
    const inner = connect(port, '127.0.0.1');
    socket.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => socket.destroy()).pipe(socket);
  });
  server.on('tlsClientError', () => {});
  onTestFinished(() => void server.close());
  return { port: await listen(server), seen };
}

/** A port that nobody listens at. */
async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

describe('requests of an HTTPS edge', () => {
  test('reach it without an agent, over connections that visitors share', async () => {
    const upstream = await startShowing('static');
    const seen: Socket[] = [];
    const counting = createServer((socket) => {
      seen.push(socket);
      const inner = connect(portOf(upstream.url), '127.0.0.1');
      socket.on('error', () => inner.destroy()).pipe(inner);
      inner.on('error', () => socket.destroy()).pipe(socket);
    });
    onTestFinished(() => void counting.close());
    const edge = await edgeOf(await toPort(await listen(counting)));
    for (let i = 0; i < 3; i++) {
      const answer = await visitEdge(gateway, edge, '/page', { method: 'POST', body: 'words' });
      expect(shown(answer)).toMatchObject({
        ...{ upstream: 'static', method: 'POST', url: '/page', body: 'words' },
        headers: { host: edge.name, 'x-forwarded-for': '127.0.0.1', 'cdn-loop': 'tunnel-gateway' },
      });
    }
    expect(seen).toHaveLength(1);
  });

  test('follow its address and its TLS with the next visit; the certificate must be valid for its host', async () => {
    const { url } = await startShowing('secure');
    const server = await startTls(portOf(url), ['localhost']);
    const id = await toPort(portOf(url));
    const edge = await edgeOf(id);
    expect(shown(await visitEdge(gateway, edge)).upstream).toBe('secure');
    expect(server.seen).toEqual([]);
    const moveTo = (port: number) =>
      done(account, 'PATCH', `/backends/static/${id}`, { address: `localhost:${port}`, tls: { enabled: true } });
    await moveTo(server.port);
    expect(shown(await visitEdge(gateway, edge)).upstream).toBe('secure');
    expect(server.seen).toEqual([['http/1.1', 'localhost']]);
    for (const untrusted of [
      await startTls(portOf(url), ['other.example.com']),
      await startTls(portOf(url), ['localhost'], await newIssuer('CN=nobody')),
    ]) {
      await moveTo(untrusted.port);
      const answer = await visitEdge(gateway, edge);
      expect([answer.status, errorOf(answer), untrusted.seen]).toEqual([502, 90370, expect.any(Array)]);
    }
  });

  test('have policies ask what backends may be at, and nothing else that is private', async () => {
    let asked = 0;
    const server = createServer((socket) => {
      asked++;
      socket.destroy();
    });
    onTestFinished(() => void server.close());
    const policy = (url: string) => {
      const actions = [{ type: 'http-request', config: { url } }];
      return { traffic_policy: { value: JSON.stringify({ on_http_request: [{ actions }] }) } };
    };
    const edge = await newEdge(account);
    const backend = { backend_id: await toPort(portOf((await startShowing('asking')).url)) };
    const listed = `https://127.0.0.1:${await listen(server)}/`;
    await newRoute(account, edge, { match: '/', backend, ...policy(listed) });
    expect((await visitEdge(gateway, edge)).status).toBe(200);
    expect(asked).toBeGreaterThan(0);
    const other = { match: '/other', match_type: 'path_prefix', backend, ...policy('https://10.1.2.3/') };
    const refused = await account.call('POST', `${edge.at}/routes`, other);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('must be at a public address')]);
  });

  test('get 502 when nobody listens there, also where another backend could stand in', async () => {
    const id = await toPort(await closedPort());
    const failover = await make('failover', { backends: [id, await make('http_response', { body: 'sorry' })] });
    for (const backend of [id, failover]) {
      const answer = await visitEdge(gateway, await edgeOf(backend));
      expect([answer.status, errorOf(answer)]).toEqual([502, 90370]);
    }
  });

  test('reach it as the member of a weighted backend that is online', async () => {
    const upstream = await startShowing('member');
    const { backend_id: group } = await backendOf(account, { app: newName('nobody') });
    const weighted = await make('weighted', { backends: { [await toPort(portOf(upstream.url))]: 1, [group]: 10_000 } });
    expect(shown(await visitEdge(gateway, await edgeOf(weighted))).upstream).toBe('member');
  });

  test('are asked by their own address where the route rewrites', async () => {
    const { url } = await startShowing('own name');
    const edge = await newEdge(account);
    const backend = { backend_id: await toPort(portOf(url)) };
    await newRoute(account, edge, { match: '/', backend, upstream: { host_header: 'rewrite' } });
    expect(shown(await visitEdge(gateway, edge)).headers.host).toBe(`localhost:${portOf(url)}`);
  });

  test('that come back for the fourth time are refused', async () => {
    const { url } = await startShowing('loop');
    const edge = await edgeOf(await toPort(portOf(url)));
    const passed = (count: number) =>
      visitEdge(gateway, edge, '/', { headers: { 'cdn-loop': Array(count).fill('tunnel-gateway').join(', ') } });
    expect(shown(await passed(2)).headers['cdn-loop']).toBe('tunnel-gateway, tunnel-gateway, tunnel-gateway');
    const answer = await passed(3);
    expect([answer.status, errorOf(answer)]).toEqual([508, 90372]);
  });
});

describe('whole connections', () => {
  test('of a TLS edge are spliced to it', async () => {
    const { url } = await startShowing('echo');
    const edge = await newEdge(account, { kind: 'tls', modules: { tls_termination: {} } });
    await done(account, 'PUT', `${edge.at}/backend`, { backend_id: await toPort(portOf(url)) });
    expect(await sayOverTls(gateway, edge)).toMatch('hello');
  });

  /** A TCP edge. @returns a visitor's connection, and the one that comes to the service then. */
  async function spliced(): Promise<[visitor: Socket, service: Socket]> {
    const server = createServer({ allowHalfOpen: true });
    onTestFinished(() => void server.close());
    const backend_id = await toPort(await listen(server));
    const { addr } = await done(account, 'POST', '/reserved_addrs', {});
    await done(account, 'POST', '/edges/tcp', { hostports: [addr], backend: { backend_id } });
    const port = Number(addr.slice(addr.indexOf(':') + 1));
    const come = once(server, 'connection');
    const visitor = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const [service] = (await come) as [Socket];
    onTestFinished(() => {
      visitor.destroy();
      service.destroy();
    });
    return [visitor, service];
  }

  test('of a TCP edge end each direction by itself, and are cut when it cuts them', async () => {
    const [visitor, service] = await spliced();
    service.write('220 ready');
    expect(String((await once(visitor, 'data'))[0])).toBe('220 ready');
    visitor.end('bye');
    expect(String((await once(service, 'data'))[0])).toBe('bye');
    service.resetAndDestroy();
    const [error] = await once(visitor, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
  });

  test.each([
    ['a visitor', 0],
    ['a service', 1],
  ])('slow down whoever sends to %s that does not read', async (_, index) => {
    const pair = await spliced();
    const [reader, writer] = index === 0 ? pair : [pair[1], pair[0]];
    const most = 128 * 1024 * 1024;
    reader.pause();
    const piece = Buffer.alloc(256 * 1024);
    let written = 0;
    const fill = () => {
      while (written < most) {
        written += piece.length;
        if (!writer.write(piece)) return;
      }
    };
    writer.on('drain', fill);
    fill();
    // It gets no further, for as long as a hundred looks take.
    let [last, looks] = [-1, 0];
    await expect
      .poll(
        () => {
          looks = written === last ? looks + 1 : 0;
          last = written;
          return looks;
        },
        { interval: 10 },
      )
      .toBeGreaterThan(100);
    expect(written).toBeLessThan(most / 2);
    writer.off('drain', fill).end();
    let read = 0;
    reader.on('data', ({ length }: Buffer) => {
      read += length;
    });
    reader.resume();
    await once(reader, 'end');
    expect(read).toBe(written);
  });
});

describe('without leave of the operator', () => {
  test('nothing connects to this machine or to metadata of a cloud, by name or by address', async () => {
    const strict = await sharedGateway();
    const owner = await strict.newAccount();
    const upstream = await startShowing('hidden');
    const port = portOf(upstream.url);
    for (const address of [`localhost:${port}`, `127.0.0.1:${port}`, '169.254.169.254:80']) {
      const id = await make('static', { address: 'api.example.com:80' }, owner);
      // The API refuses such addresses, but the operator may have allowed them once.
      await strict.app.prisma.backend.update({ where: { id }, data: { address } });
      const answer = await visitEdge(strict, await edgeOf(id, owner));
      expect([answer.status, errorOf(answer)], address).toEqual([502, 90371]);
    }
    expect(upstream.requests).toBe(0);
  });
});
