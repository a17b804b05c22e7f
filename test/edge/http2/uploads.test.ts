// Bodies of requests over HTTP/2: what waits of them, and how much of it may.

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { Readable } from 'node:stream';
import { setTimeout as later, setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../sockets.ts';
import { cut, type Edge, type EdgeOptions, startEdge } from '../tls/support.ts';
import { answer, NAME, serve } from './support.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const STREAM_WINDOW = 256 * KIB;
const BLOCK = 16 * KIB;
/** An endpoint that is never reached: nothing of a request goes on. */
const STUCK = 'stuck.tunnel.localhost';

async function start(options: EdgeOptions = {}): Promise<Edge> {
  const edge = await startEdge(options);
  onTestFinished(() => edge.close());
  const tunnel = edge.agent.tunnel(STUCK, 0);
  const open = () => new Promise<never>(() => {});
  edge.endpoints.add(Object.create(tunnel, { isOpen: { value: true }, open: { value: open } }));
  return edge;
}

async function visit(edge: Edge, name = NAME): Promise<ClientHttp2Session> {
  const session = await edge.visitHttp2(name);
  onTestFinished(() => cut(session));
  return session;
}

/** A request whose body begins with so many bytes, and does not end. */
function post(session: ClientHttp2Session, bytes: number): ClientHttp2Stream {
  const stream = session.request({ ':method': 'POST', ':path': '/' }).on('error', () => {});
  if (bytes > 0) stream.write(Buffer.alloc(bytes));
  return stream;
}

async function until(is: () => boolean): Promise<void> {
  while (!is()) await later(1);
}

test('what comes before anybody takes it counts, and is no more than each window', async () => {
  const edge = await start();
  const session = await visit(edge, STUCK);
  const streams = [1, 2, 3].map(() => post(session, MIB));
  await until(() => edge.limit.held === 3 * STREAM_WINDOW);
  streams[0]?.close(constants.NGHTTP2_CANCEL);
  await until(() => edge.limit.held === 2 * STREAM_WINDOW);
  cut(session);
  await until(() => edge.limit.held === 0);
});

test('what comes bit by bit waits as one', async () => {
  const edge = await start();
  const stream = post(await visit(edge, STUCK), 0);
  for (let i = 1; i <= 1000; i++) {
    stream.write('x');
    await turn();
  }
  await until(() => edge.limit.held > 0);
  stream.write(Buffer.alloc(BLOCK - 1000));
  stream.write('x');
  await until(() => edge.limit.held > BLOCK);
  expect(edge.limit.held).toBe(2 * BLOCK);
});

test('of visitors whose uploads wait, those are cut first that have waited for the longest', async () => {
  const edge = await start({ heldMax: 4 * MIB });
  const gone: number[] = [];
  for (let i = 0; i < 6; i++) {
    const before = edge.limit.held;
    const session = await visit(edge, STUCK);
    session.once('close', () => gone.push(i));
    for (let k = 0; k < 4; k++) post(session, STREAM_WINDOW);
    await until(() => edge.limit.held === Math.min(before + MIB, 4 * MIB));
  }
  await until(() => gone.length === 2);
  expect(gone.sort()).toEqual([0, 1]);
  expect(edge.limit.held).toBe(4 * MIB);
});

test('little answers that are not taken count, each with what its stream costs', async () => {
  const edge = await start();
  await serve(edge, (_, response) => response.end('x'.repeat(100)));
  const session = await visit(edge);
  session.settings({ initialWindowSize: 0 });
  const streams = Array.from({ length: 50 }, () => session.request({ ':path': '/' }).on('error', () => {}));
  await Promise.all(streams.map((stream) => once(stream, 'response')));
  await until(() => edge.limit.held > 50 * 8 * KIB);
  expect(edge.limit.held).toBeLessThan(50 * 9 * KIB);
  session.settings({ initialWindowSize: 65_535 });
  await Promise.all(streams.map((stream) => once(stream.resume(), 'close')));
  await until(() => edge.limit.held === 0);
});

test.each([true, false])(
  'an upload taken in fits and starts arrives as it was (stated length: %s)',
  async (isStated) => {
    const edge = await start();
    const hash = createHash('md5');
    let received = 0;
    await serve(edge, (request, response) => {
      request.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        received += chunk.length;
        if (received % 7 === 0) request.pause();
        setImmediate(() => request.resume());
      });
      request.on('end', () => response.end(hash.digest('hex')));
    });
    const bytes = randomBytes(3 * MIB);
    const length = isStated ? { 'content-length': bytes.length } : {};
    const stream = (await visit(edge)).request({ ':method': 'POST', ':path': '/', ...length });
    const answered = answer(stream);
    const pieces = Array.from({ length: 300 }, (_, i) => bytes.subarray(i * 10_486, (i + 1) * 10_486));
    Readable.from([...pieces, bytes.subarray(300 * 10_486)]).pipe(stream);
    expect(String((await answered).body)).toBe(createHash('md5').update(bytes).digest('hex'));
    await until(() => edge.limit.held === 0);
  },
);

/** An upstream that takes uploads, until it is told not to be reached any more, and a clock that stands still. */
async function startGrown() {
  const clock = { time: 0, reads: 0 };
  const now = () => {
    clock.reads++;
    return clock.time;
  };
  const edge = await startEdge({ settings: { idleTimeout: 40 }, now });
  onTestFinished(() => edge.close());
  const upstream = { received: 0, isStuck: false };
  const server = createServer((request) => {
    request.on('data', (chunk: Buffer) => {
      upstream.received += chunk.length;
    });
  });
  onTestFinished(() => void server.close().closeAllConnections());
  const tunnel = edge.agent.tunnel(NAME, await listen(server));
  const open: typeof tunnel.open = (visitor, events) =>
    upstream.isStuck ? new Promise(() => {}) : tunnel.open(visitor, events);
  edge.endpoints.add(Object.create(tunnel, { isOpen: { value: true }, open: { value: open } }));
  const session = await visit(edge);
  const stream = post(session, 5 * MIB);
  await until(() => upstream.received === 5 * MIB);
  clock.time += 250;
  const { reads } = clock;
  await until(() => session.remoteSettings.initialWindowSize === 4 * MIB);
  // The window may have grown while bytes came. The interval has to be over all the same, or it would count what comes next.
  await until(() => clock.reads >= reads + 10);
  return { edge, clock, upstream, session, stream };
}

test('a window becomes what the upstream takes in a quarter of a second, and small again when it takes nothing', async () => {
  const { clock, upstream, session, stream } = await startGrown();
  const others = [post(session, MIB), post(session, MIB), post(session, MIB)];
  stream.write(Buffer.alloc(MIB));
  // On a busy machine a quarter may be over while bytes still come: then the next one counts.
  for (let taken = 9 * MIB; ; taken += 4 * MIB) {
    await until(() => upstream.received === taken);
    const { reads } = clock;
    clock.time += 250;
    await until(() => clock.reads >= reads + 10);
    if (session.remoteSettings.initialWindowSize === MIB) break;
    for (const upload of [stream, ...others]) upload.write(Buffer.alloc(MIB));
  }
  for (const other of others) other.close(constants.NGHTTP2_CANCEL);
  // What was taken before the window changed may count in the next interval, too.
  while (session.remoteSettings.initialWindowSize !== STREAM_WINDOW) {
    const { reads } = clock;
    clock.time += 250;
    await until(() => clock.reads >= reads + 10);
  }
});

test('a connection that fills windows from before they were made smaller is cut', async () => {
  const { edge, upstream, session } = await startGrown();
  upstream.isStuck = true;
  for (let i = 0; i < 7; i++) post(session, 4 * MIB);
  await until(() => edge.limit.held === 28 * MIB);
  const closed = new Promise((resolve) => session.once('close', resolve));
  post(session, 4 * MIB);
  await closed;
  await until(() => edge.limit.held === 0);
});
