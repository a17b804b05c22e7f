// Deadlines: how long visitors, upstreams and streams may take.

import { expect, onTestFinished, test } from 'vitest';
import type { AnswerTimeout } from '../../../src/http/exchange.ts';
import type { HttpModule } from '../../../src/http/module.ts';
import { visitorErrors } from '../../../src/http/visitor-errors.ts';
import { GET, OK, startApp } from './app.ts';
import * as support from './support.ts';
import { type EdgeOptions, moduleRules, startScript, visit } from './support.ts';

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

test('a head that takes too long is answered with 408', async () => {
  const { edge } = await startEdge({ settings: { headTimeout: 40 } });
  const visitor = (await visit(edge.port)).send('GET / HTTP/1.1\r\nHost: app');
  expect(await visitor.toEnd()).toContain(code('requestTimeout'));
  expect(visitor.text).toMatch(/^HTTP\/1\.1 408 /);
});

test('a head that comes byte by byte gets no more time', async () => {
  const { edge } = await startEdge({ settings: { headTimeout: 60 } });
  const visitor = await visit(edge.port);
  const drip = setInterval(() => visitor.send('a'), 10);
  visitor.send('a');
  onTestFinished(() => clearInterval(drip));
  await visitor.until('408');
});

test('a connection without a request is closed without an answer', async () => {
  const { edge } = await startEdge({ settings: { headTimeout: 40 } });
  const visitor = await visit(edge.port);
  expect(await visitor.toEnd()).toBe('');
  expect(await visitor.closed).toBe('end');
});

test('a connection that waits for its next request is closed after the idle timeout, not the one for heads', async () => {
  const { edge, next } = await startEdge({ settings: { headTimeout: 10_000, idleTimeout: 40 } });
  const visitor = (await visit(edge.port)).send(GET);
  (await next()).send(OK);
  expect(await visitor.toEnd()).toBe(OK);
  expect(await visitor.closed).toBe('end');
});

test('the next head has its own time, however long the connection was idle', async () => {
  const { edge, next } = await startEdge({ settings: { headTimeout: 40, idleTimeout: 10_000 } });
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await next();
  upstream.send(OK);
  await visitor.until('ok');
  visitor.send('GET / HTTP/1.1\r\n');
  await visitor.until('408');
});

test('an upstream that doesn’t answer in time is given up with 504', async () => {
  const { edge, next } = await startEdge({ settings: { upstreamTimeout: 40, headTimeout: 10_000 } });
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await next();
  expect(await visitor.until(code('upstreamTimeout'))).toMatch(/^HTTP\/1\.1 504 Gateway Timeout\r\n/);
  expect(await upstream.closed).toBe('reset');
});

test('an endpoint may give its service longer, at most as long as the gateway allows, and the 504 names the limit', async () => {
  const clock = { ms: 1000 };
  const settings = { upstreamTimeout: 60_000, upstreamTimeoutMax: 600_000, stallTimeout: 3_600_000 };
  const edge = await support.startEdge({ settings, context: { now: () => clock.ms } });
  onTestFinished(() => edge.close());
  const script = await startScript();
  const ask = async (name: string, answerTimeout?: AnswerTimeout) => {
    const endpoint = edge.serve(name, script.port);
    const onRequest: HttpModule['onRequest'] = ({ upstreamTerms }) =>
      void Object.assign(upstreamTerms ?? {}, { answerTimeout });
    if (answerTimeout) Object.assign(endpoint, moduleRules([{ name: 'upstream_timeout', onRequest }]));
    const visitor = (await visit(edge.port)).send(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
    const upstream = await script.next();
    await upstream.until('\r\n\r\n');
    return { visitor, upstream };
  };
  const own = await ask('own.test');
  const short = await ask('short.test', { ms: 30_000, setBy: 'its agent' });
  const long = await ask('long.test', { ms: 300_000, setBy: 'its traffic policy' });
  const tooLong = await ask('too-long.test', { ms: 3_600_000, setBy: 'its traffic policy' });
  const later = await ask('later.test', { ms: 300_000, setBy: 'its traffic policy' });
  const limitOf = async ({ visitor }: typeof own) => {
    const text = await visitor.until(/The limit is .*\n/);
    expect(text).toMatch(/^HTTP\/1\.1 504 [\s\S]*ERR_GATEWAY_90107: .* in time\. The limit is /);
    return /The limit is (.*)\n/.exec(text)?.[1];
  };
  clock.ms += 30_000;
  expect(await limitOf(short)).toBe('30 s, set by its agent.');
  clock.ms += 30_000;
  expect(await limitOf(own)).toBe('60 s, set by the gateway.');
  clock.ms += 239_999; // The others were looked at when those above were given up.
  later.upstream.send(OK);
  expect(await later.visitor.until('ok')).toMatch(/^HTTP\/1\.1 200 /);
  clock.ms += 1;
  expect(await limitOf(long)).toBe('300 s, set by its traffic policy.');
  clock.ms += 300_000;
  expect(await limitOf(tooLong)).toBe('600 s, set by the gateway, the longest that it allows.');
});

test('an endpoint that opens no stream in time is given up with 504, and the stream with it', async () => {
  const { edge, endpoint } = await startEdge({ settings: { upstreamTimeout: 40 } });
  let open = () => {};
  endpoint.gate = new Promise((resolve) => {
    open = resolve;
  });
  const visitor = (await visit(edge.port)).send(GET);
  await visitor.until(code('upstreamTimeout'));
  open();
  await until(() => endpoint.opened === 1 && edge.agent.session.size === 0);
});

test('the time for the answer begins with the end of the request', async () => {
  const { edge, next } = await startEdge({ settings: { upstreamTimeout: 150 } });
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 20\r\n\r\n');
  const upstream = await next();
  for (let i = 1; i <= 20; i++) {
    visitor.send('x');
    await upstream.until(`\r\n\r\n${'x'.repeat(i)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  upstream.send(OK);
  await visitor.until('ok');
});

test('a request that comes to a halt is answered with 408, and broken off for the upstream', async () => {
  const { edge, next } = await startEdge({ settings: { stallTimeout: 40 } });
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 20\r\n\r\nhalf');
  const upstream = await next();
  await visitor.until(code('requestTimeout'));
  expect(await upstream.closed).toBe('reset');
});

test('an answer that comes to a halt is cut', async () => {
  const { edge, next } = await startEdge({ settings: { stallTimeout: 40 } });
  const visitor = (await visit(edge.port)).send(GET);
  (await next()).send('HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf');
  expect(await visitor.closed).toBe('reset');
  expect(visitor.text).toMatch(/half$/);
});

const LARGE = 24 * 1024 * 1024;
const SLOW = 2 * LARGE;

test('a visitor that reads slowly is served for as long as it reads', async () => {
  const { edge, next } = await startEdge({ settings: { stallTimeout: 300 } });
  // So that much of it waits for the visitor in one write, of which no part is told to be done.
  Object.assign(edge.agent.session.windowBudget, { max: SLOW, roundTrip: 10_000 });
  const visitor = await visit(edge.port);
  visitor.socket.removeAllListeners('data');
  visitor.send(GET);
  const upstream = await next();
  // One byte is missing, so that the answer is under way until the visitor has the rest.
  upstream.send(`HTTP/1.1 200 OK\r\nContent-Length: ${SLOW + 1}\r\n\r\n`);
  upstream.send(Buffer.alloc(SLOW));
  let read = 0;
  const started = performance.now();
  visitor.socket.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > SLOW) visitor.socket.destroy();
    const early = (read / SLOW) * 1500 - (performance.now() - started);
    if (early < 1) return;
    visitor.socket.pause();
    setTimeout(() => visitor.socket.resume(), early);
  });
  await visitor.closed;
  expect(read).toBeGreaterThan(SLOW);
});

test('a visitor that reads no more is cut off, and its upstream', async () => {
  const { edge, next } = await startEdge({ settings: { stallTimeout: 60 } });
  const visitor = await visit(edge.port);
  visitor.socket.pause();
  visitor.send(GET);
  const upstream = await next();
  upstream.send(`HTTP/1.1 200 OK\r\nContent-Length: ${LARGE}\r\n\r\n`);
  upstream.send(Buffer.alloc(LARGE));
  expect(await upstream.closed).toBe('reset');
  expect(edge.counters.cut).toBe(1);
});

test('a stream is not used again for longer than its upstream keeps it', async () => {
  let now = 0;
  const { edge, next } = await startEdge({
    context: { now: () => now },
    settings: { idleTimeout: 1e9, headTimeout: 1e9 },
  });
  const visitor = (await visit(edge.port)).send(GET);
  const first = await next();
  first.send('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3\r\nContent-Length: 2\r\n\r\nok');
  await visitor.until('ok');
  now = 1900;
  visitor.send(GET);
  await first.until((text) => text.split('GET ').length === 3);
  first.send('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3\r\nContent-Length: 2\r\n\r\n=2');
  await visitor.until('=2');
  now = 3950;
  visitor.send(GET);
  const second = await next();
  await first.untilEnd();
  second.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n=3');
  await visitor.until('=3');
  now = 8000;
  await second.untilEnd();
});
