// Streams to upstreams that serve one visitor after the other.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { FORWARDED, GET, OK, startApp } from './app.ts';
import { type Edge, type Peer, startEdge, visit } from './support.ts';

let edge: Edge;
/** A clock that goes on only when a test says so: an idle stream is given up by time. */
const clock = { ms: 1000 };

beforeAll(async () => {
  edge = await startEdge({ context: { now: () => clock.ms } });
});
afterAll(() => edge.close());

/** An upstream whose agent allows that. */
async function startSharing() {
  const app = await startApp(edge);
  app.endpoint.sharesConnections = true;
  return app;
}

/** A visitor with a connection of its own, who leaves when the upstream has answered. */
async function visitAndLeave(upstream: Peer | Promise<Peer>, request = GET, response = OK): Promise<string> {
  const visitor = (await visit(edge.port)).send(request);
  const answering = await upstream;
  await answering.until('\r\n\r\n');
  const forwarded = answering.take();
  answering.send(response);
  await visitor.until('ok');
  visitor.socket.end();
  await visitor.closed;
  return forwarded;
}

test('a visitor gets the stream that another has left, and upstream is told who each is', async () => {
  const app = await startSharing();
  const first = app.next();
  expect(await visitAndLeave(first)).toBe(FORWARDED);
  for (let i = 0; i < 3; i++) expect(await visitAndLeave(first)).toBe(FORWARDED);
  expect(app.endpoint.opened).toBe(1);
});

test('two visitors at the same time have a stream each', async () => {
  const app = await startSharing();
  const visitors = [(await visit(edge.port)).send(GET), (await visit(edge.port)).send(GET)];
  for (const upstream of [await app.next(), await app.next()]) {
    await upstream.until('\r\n\r\n');
    upstream.send(OK);
  }
  for (const visitor of visitors) await visitor.until('ok');
  expect(app.endpoint.opened).toBe(2);
});

test('a visitor who stays keeps the stream', async () => {
  const app = await startSharing();
  const stays = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send(OK);
  await stays.until('ok');
  await visitAndLeave(app.next());
  expect(app.endpoint.opened).toBe(2);
});

test('no stream is shared where the agent does not allow it', async () => {
  const app = await startApp(edge);
  const first = await visitAndLeaveFirst(app);
  await first.untilEnd();
  await visitAndLeave(app.next());
  expect(app.endpoint.opened).toBe(2);
});

test.each([
  ['closes with its answer', GET, 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'],
  ['has sent more than its answer', GET, `${OK}HTTP/1.1 200 OK\r\n`],
  ['gives connections no time', GET, 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok'],
  ...['NTLM', 'ntlm', 'Negotiate'].map((scheme): [string, string, string] => [
    `knows the connection by ${scheme}`,
    GET.replace('\r\n\r\n', `\r\nAuthorization: ${scheme} TlRM\r\n\r\n`),
    OK,
  ]),
])('an upstream that %s gets a new stream for the next visitor', async (_, request, response) => {
  const app = await startSharing();
  await visitAndLeave(app.next(), request, response);
  await visitAndLeave(app.next());
  expect(app.endpoint.opened).toBe(2);
});

test('a stream that has authenticated once is not shared after further requests', async () => {
  const app = await startSharing();
  const visitor = await visit(edge.port);
  const upstream = app.next();
  for (const request of [GET.replace('\r\n\r\n', '\r\nAuthorization: NTLM TlRM\r\n\r\n'), GET]) {
    visitor.send(request);
    await (await upstream).until('\r\n\r\n');
    (await upstream).take();
    (await upstream).send(OK);
    await visitor.until('ok');
    visitor.take();
  }
  visitor.socket.end();
  await visitor.closed;
  await visitAndLeave(app.next());
  expect(app.endpoint.opened).toBe(2);
});

test.each(['Basic dXNlcjpwYXNz', 'Bearer negotiate'])('Authorization: %s is of the request alone', async (value) => {
  const app = await startSharing();
  const first = app.next();
  await visitAndLeave(first, GET.replace('\r\n\r\n', `\r\nAuthorization: ${value}\r\n\r\n`));
  await visitAndLeave(first);
  expect(app.endpoint.opened).toBe(1);
});

test('a request that means the same twice goes on another stream when upstream has just ended this one', async () => {
  const app = await startSharing();
  const first = await visitAndLeaveFirst(app);
  const visitor = (await visit(edge.port)).send(GET);
  await first.until('\r\n\r\n');
  first.socket.end();
  const second = await app.next();
  expect(await second.until('\r\n\r\n')).toBe(FORWARDED);
  second.send(OK);
  await visitor.until('ok');
  expect(app.endpoint.opened).toBe(2);
});

test('another request takes a stream of others within 300 ms, and a new one later', async () => {
  const app = await startSharing();
  const first = await visitAndLeaveFirst(app);
  const post = GET.replace('GET', 'POST');
  clock.ms += 300;
  await visitAndLeave(first, post);
  clock.ms += 301;
  await visitAndLeave(app.next(), post);
  expect(app.endpoint.opened).toBe(2);
});

test('a stream that upstream has ended meanwhile is not used', async () => {
  const app = await startSharing();
  const first = await visitAndLeaveFirst(app);
  first.socket.end();
  expect(await first.closed).toBe('end');
  await visitAndLeave(app.next());
  expect(app.endpoint.opened).toBe(2);
});

test('a stream waits a second for its next visitor, and is ended then', async () => {
  const app = await startSharing();
  const first = await visitAndLeaveFirst(app);
  clock.ms += 999;
  await visitAndLeave(first);
  clock.ms += 1000;
  await first.untilEnd();
  await visitAndLeave(app.next());
  expect(app.endpoint.opened).toBe(2);
});

test('no more than 64 streams of an endpoint are kept for others', async () => {
  const app = await startSharing();
  const all = await Promise.all(
    Array.from({ length: 66 }, async () => {
      const visitor = (await visit(edge.port)).send(GET);
      const upstream = await app.next();
      await upstream.until('\r\n\r\n');
      return { visitor, upstream };
    }),
  );
  for (const { upstream } of all) upstream.send(OK);
  for (const { visitor } of all) await visitor.until('ok');
  for (const { visitor } of all) {
    visitor.socket.end();
    await visitor.closed;
  }
  const ended = all.map(({ upstream }) => upstream.untilEnd());
  await Promise.race(ended);
  await expect.poll(() => all.filter(({ upstream }) => upstream.socket.readableEnded).length).toBe(2);
});

async function visitAndLeaveFirst(app: Awaited<ReturnType<typeof startApp>>): Promise<Peer> {
  const first = app.next();
  await visitAndLeave(first);
  return first;
}
