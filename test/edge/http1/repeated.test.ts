// Requests on connections to services that were kept, and that the service closes just then.

import { Agent, request as overHttp } from 'node:http';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AddressDialer } from '../../../src/edge/dialing/address-dialer.ts';
import { AddressEndpoint } from '../../../src/edge/dialing/address-endpoint.ts';
import { isLong } from '../../support/shortened.ts';
import { listen } from '../sockets.ts';
import { noVisits } from '../tls/support.ts';
import { GET, OK, startApp, VISITOR } from './app.ts';
import { type Edge, type Peer, startEdge, type TestEndpoint, visit } from './support.ts';

let edge: Edge;
/** A clock that goes on only when a test says so. */
const clock = { ms: 1000 };
const logged: object[] = [];

beforeAll(async () => {
  const services = { ...noVisits, logRepeated: (request: object) => logged.push(request) };
  edge = await startEdge({ context: { now: () => clock.ms, services } });
});
afterAll(() => edge.close());

const withBody = (method: string, body: string, stated = body.length) =>
  `${method} / HTTP/1.1\r\nHost: app.test\r\nContent-Length: ${stated}\r\n\r\n${body}`;

/** A visitor whose first request was answered on a connection that the service keeps. */
async function startKept() {
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  visitor.send(GET);
  const kept = await answer(await app.next());
  await visitor.until('ok');
  visitor.take();
  return { app, visitor, kept };
}

async function answer(peer: Peer): Promise<Peer> {
  await peer.until('\r\n\r\n');
  peer.take();
  return peer.send(OK);
}

describe('a request that means the same twice is sent once more, on a new connection', () => {
  test.each([
    ['GET', GET],
    ['HEAD', GET.replace('GET', 'HEAD')],
    ['OPTIONS', GET.replace('GET', 'OPTIONS')],
    ['DELETE', GET.replace('GET', 'DELETE')],
    ['PUT with a body', withBody('PUT', 'body')],
  ])('%s', async (_, request) => {
    for (const how of ['end', 'resetAndDestroy'] as const) {
      const { app, visitor, kept } = await startKept();
      const { repeated } = edge.counters;
      clock.ms += 3000;
      visitor.send(request);
      const first = await kept.until(
        (text) => text.includes(VISITOR) && text.endsWith(request.split('\r\n\r\n')[1] ?? ''),
      );
      kept.socket[how]();
      const second = await app.next();
      expect(await second.until((text) => text.length >= first.length)).toBe(first);
      second.send(request.startsWith('HEAD') ? OK.replace(/ok$/, '') : OK);
      expect(await visitor.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
      expect(edge.counters.repeated).toBe(repeated + 1);
      expect(logged.at(-1)).toMatchObject({ accountId: 'ac_1', ip: '127.0.0.1' });
    }
  });

  test('also with what of its body comes after that', async () => {
    const { app, visitor, kept } = await startKept();
    visitor.send(withBody('PUT', 'one', 11));
    await kept.until('one');
    kept.socket.resetAndDestroy();
    const second = await app.next();
    await second.until('one');
    visitor.send('two');
    await second.until('onetwo');
    visitor.send('three');
    expect(await second.until('three')).toMatch(/\r\n\r\nonetwothree$/);
    second.send(OK);
    await visitor.until('ok');
  });
});

describe('a request is sent once only', () => {
  test.each([
    ['whose method is POST', withBody('POST', 'body'), 'body'],
    ['whose method is PATCH', withBody('PATCH', 'body'), 'body'],
    ['whose body is long', withBody('PUT', 'x'.repeat(17_000)), 'xxx'],
    [
      'whose body has no length',
      GET.replace('GET', 'PUT').replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
      '0\r\n\r\n',
    ],
  ])('%s', async (_, request, sign) => {
    const { app, visitor, kept } = await startKept();
    const opened = app.endpoint.opened;
    visitor.send(request);
    await kept.until(sign);
    kept.socket.resetAndDestroy();
    expect(await visitor.until('ERR_GATEWAY_')).toMatch(/^HTTP\/1\.1 502 /);
    expect(app.endpoint.opened).toBe(opened);
  });

  test.each(['H', 'HTTP/1.1 100 Continue\r\n\r\n'])('of whose answer has come: %j', async (beginning) => {
    const { app, visitor, kept } = await startKept();
    visitor.send(GET);
    await kept.until(VISITOR);
    kept.send(beginning).socket.end();
    expect(await visitor.until('ERR_GATEWAY_')).toMatch(/HTTP\/1\.1 502 /);
    expect(app.endpoint.opened).toBe(1);
  });

  test('that had a connection of its own, and so one that was sent once more', async () => {
    const { app, visitor, kept } = await startKept();
    visitor.send(GET);
    await kept.until(VISITOR);
    kept.socket.end();
    const second = await app.next();
    await second.until(VISITOR);
    second.socket.end();
    expect(await visitor.until('ERR_GATEWAY_')).toMatch(/^HTTP\/1\.1 502 /);
    expect(app.endpoint.opened).toBe(2);
  });
});

test('what cannot be sent twice takes a connection that was used within 300 ms, and a new one later', async () => {
  const { app, visitor, kept } = await startKept();
  const post = async (to: Peer | Promise<Peer>) => {
    visitor.take();
    visitor.send(withBody('POST', 'body'));
    const peer = await to;
    await peer.until('body');
    peer.take();
    peer.send(OK);
    await visitor.until('ok');
  };
  clock.ms += 300;
  await post(kept);
  clock.ms += 301;
  await post(app.next());
  expect(app.endpoint.opened).toBe(2);
  await kept.untilEnd();
});

test('where a connection is authenticated, every request takes it', async () => {
  const { app, visitor, kept } = await startKept();
  visitor.send(GET.replace('\r\n\r\n', '\r\nAuthorization: NTLM TlRM\r\n\r\n'));
  await answer(kept);
  await visitor.until('ok');
  clock.ms += 2000;
  visitor.send(withBody('POST', 'body'));
  await kept.until('body');
  expect(app.endpoint.opened).toBe(1);
});

/** How many requests; `npm run soak -- long` has 1,000 and 10,000. */
const GETS = isLong ? 1000 : 100;
const POSTS = isLong ? 10_000 : 200;
const VISITORS = 4;

describe.each(['an agent', 'a static backend'])('beside a service behind %s that closes at every moment', (way) => {
  test('no GET fails, and no POST comes twice', async () => {
    const own = await startEdge();
    onTestFinished(() => own.close());
    const posts = new Map<string, number>();
    let served = 0;
    let closed = 0;
    /** Answers the first request of each connection, and closes it: behind the answer, at the next request, or within it. */
    const server = createServer({ noDelay: true }, (socket) => {
      let requests = 0;
      let text = '';
      const moment = served++ % 6;
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        requests++;
        if (requests > 1 && moment === 0) return void socket.resetAndDestroy(); // It was never read.
        text += chunk;
        const id = /^POST \/(\S+)/m.exec(text)?.[1];
        if (id) posts.set(id, (posts.get(id) ?? 0) + 1);
        text = '';
        if (requests > 1 && moment < 4) closed++;
        if (requests > 1 && moment === 1) return void socket.end();
        if (requests > 1 && moment === 2) return void socket.resetAndDestroy();
        if (requests > 1 && moment === 3) return void socket.destroy();
        socket.write(OK);
        if (moment === 4) socket.end();
        if (moment === 5) setImmediate(() => socket.destroy());
      });
    });
    const port = await listen(server);
    onTestFinished(() => void server.close());
    if (way === 'an agent') own.serve('app.test', port).sharesConnections = true;
    else {
      const dialer = new AddressDialer({ backendHosts: ['127.0.0.1'], backendCaFile: undefined });
      onTestFinished(() => dialer.close());
      const target = { host: '127.0.0.1', port, tls: false };
      own.endpoints.set('app.test', new AddressEndpoint(target, 'ac_1', 'https', dialer) as unknown as TestEndpoint);
    }
    const agent = new Agent({ keepAlive: true, maxSockets: VISITORS });
    onTestFinished(() => agent.destroy());
    const ask = (method: string, path: string) =>
      new Promise<number>((resolve, reject) => {
        const to = { port: own.port, host: '127.0.0.1', agent, method, path, headers: { Host: 'app.test' } };
        const sent = overHttp(to, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        });
        sent.on('error', reject).end();
      });
    const askAll = async (method: string, count: number) => {
      const statuses = new Map<number, number>();
      const each = async (visitor: number) => {
        for (let i = visitor; i < count; i += VISITORS) {
          const status = await ask(method, `/${method}-${i}`);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: VISITORS }, (_, visitor) => each(visitor)));
      return statuses;
    };
    expect(Object.fromEntries(await askAll('GET', GETS))).toEqual({ 200: GETS });
    expect(own.counters.repeated).toBeGreaterThan(GETS / 10);
    const statuses = await askAll('POST', POSTS);
    expect(posts.size).toBeGreaterThan(POSTS / 2);
    expect([...posts.values()].filter((times) => times > 1)).toEqual([]);
    if (isLong) process.stdout.write(`${way}: ${closed} closed, POSTs ${JSON.stringify([...statuses])}\n`);
  });
});
