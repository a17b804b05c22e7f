// How many visitors there may be, what those who leave take with them, and how a listener ends.

import { expect, onTestFinished, test } from 'vitest';
import { visitorErrors } from '../../../src/http/visitor-errors.ts';
import { GET, OK, startApp } from './app.ts';
import * as support from './support.ts';
import { allowHalfClose, type EdgeOptions, startUpstream, visit } from './support.ts';

const code = (error: keyof typeof visitorErrors) => `ERR_GATEWAY_${visitorErrors[error].number}: `;

async function startEdge(options: EdgeOptions = {}) {
  const edge = await support.startEdge(options);
  onTestFinished(() => edge.close());
  const { endpoint, next } = await startApp(edge);
  return { edge, endpoint, next };
}

/** Lets the event loop turn until it is so; the test's time limit is the only other end. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('a request that was sent whole and then ended waits for its stream like any other', async () => {
  const { edge, endpoint, next } = await startEdge();
  allowHalfClose(endpoint);
  let open = () => {};
  endpoint.gate = new Promise((resolve) => {
    open = resolve;
  });
  const visitor = await visit(edge.port, { allowHalfOpen: true });
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 5\r\n\r\nhello').socket.end();
  const other = (await visit(edge.port)).send('GET / HTTP/1.1\r\nHost: nobody.test\r\n\r\n');
  await other.until('3200');
  open();
  const upstream = await next();
  await upstream.until('hello');
  upstream.send(OK);
  expect(await visitor.toEnd()).toContain('\r\n\r\nok');
});

test('a visitor that leaves before its stream is open leaves nothing behind', async () => {
  const { edge, endpoint } = await startEdge();
  let open = () => {};
  endpoint.gate = new Promise((resolve) => {
    open = resolve;
  });
  const visitor = (await visit(edge.port)).send(GET);
  await endpoint.asked;
  visitor.socket.resetAndDestroy();
  await until(() => edge.limit.open === 0);
  open();
  await until(() => endpoint.opened === 1 && edge.agent.session.size === 0);
});

test('nothing is left of visitors who leave, whatever they were doing', async () => {
  const { edge } = await startEdge({ settings: { upstreamTimeout: 100, stallTimeout: 100 } });
  const port = await startUpstream((peer) => {
    const answers: Record<string, string> = {
      idle: OK,
      half: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf',
      endless: 'HTTP/1.1 200 OK\r\n\r\nhalf',
      upgrade: 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    };
    peer.socket.on('end', () => peer.socket.end());
    peer.until('\r\n\r\n').then(
      (text) => peer.send(answers[/\/(\w*)/.exec(text)?.[1] ?? ''] ?? ''),
      () => {}, // The visitor left before.
    );
  });
  edge.serve('app.test', port);
  const doing = {
    nothing: '',
    'half a head': 'GET / HT',
    waiting: GET,
    pipelining: GET.repeat(5),
    sending: 'POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 9\r\n\r\nhalf',
    'being refused': 'GET / HTTP/3.0\r\n\r\n',
    idle: 'GET /idle HTTP/1.1\r\nHost: app.test\r\n\r\n',
    reading: 'GET /half HTTP/1.1\r\nHost: app.test\r\n\r\n',
    'reading for ever': 'GET /endless HTTP/1.1\r\nHost: app.test\r\n\r\n',
    upgraded: 'GET /upgrade HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  };
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    for (const bytes of Object.values(doing)) {
      const visitor = (await visit(edge.port)).send(bytes);
      if (/GET \/\w/.test(bytes)) await visitor.until('HTTP/1.1');
      visitor.socket[leave]();
    }
  }
  await until(() => edge.limit.open === 0 && edge.agent.session.size === 0);
});

test('one visitor too many, while all others are busy, is told so, and the next one after that is served', async () => {
  const { edge, next } = await startEdge({ settings: { maxVisitors: 2 } });
  const visitors = [await visit(edge.port), await visit(edge.port)];
  for (const visitor of visitors) {
    visitor.send(GET);
    await (await next()).until('\r\n\r\n');
  }
  const third = (await visit(edge.port)).send(GET);
  const text = await third.toEnd();
  expect(text).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
  expect(text).toContain('\r\nRetry-After: 1\r\n');
  expect(text).toContain(code('tooManyVisitors'));
  visitors[0]?.socket.destroy();
  await until(() => edge.limit.open === 1);
  const fourth = (await visit(edge.port)).send(GET);
  (await next()).send(OK);
  await fourth.until('ok');
});

test('a listener that ends closes idle connections, and the others after their answers', async () => {
  const { edge, next } = await startEdge();
  const idle = (await visit(edge.port)).send(GET);
  (await next()).send(OK);
  await idle.until('ok');
  const busy = (await visit(edge.port)).send(GET);
  const upstream = await next();
  await upstream.until('\r\n\r\n');
  const closed = edge.close(10_000);
  expect(await idle.closed).toBe('end');
  upstream.send(OK);
  expect(await busy.toEnd()).toBe('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
  await closed;
  await expect(visit(edge.port)).rejects.toThrow('ECONNREFUSED');
});

test('what is still under way when the time to end is over is cut', async () => {
  const { edge, next } = await startEdge();
  const visitor = (await visit(edge.port)).send(GET);
  (await next()).send('HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf');
  await visitor.until('half');
  const closed = edge.close(20);
  expect(await visitor.closed).toBe('reset');
  await closed;
});

test('counters tell connections, requests, answers and bytes', async () => {
  const { edge, next } = await startEdge();
  const visitor = (await visit(edge.port)).send(GET + GET);
  const upstream = await next();
  upstream.send(OK);
  await visitor.until('ok');
  await upstream.until((text) => text.split('GET ').length === 3);
  upstream.send('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
  await visitor.until('404 Not Found\r\nContent-Length: 0\r\n\r\n');
  expect(edge.counters).toMatchObject({
    connections: 1,
    requests: 2,
    responses: { 1: 0, 2: 1, 3: 0, 4: 1, 5: 0 },
    cut: 0,
    traffic: { fromSocket: 2 * GET.length, toSocket: visitor.received.length },
  });
});
