// What reports have of modules: what each has decided, and what became of the request.

import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Edge, startEdge, startScript, visit } from '../../edge/http1/support.ts';
import { Waiting } from '../pipeline/waiting-module.ts';
import { answering as answeringAt, field, Hearer, handle, policyOf, visitsFor } from './lab.ts';

let edge: Edge;
const hearer = new Hearer();

beforeAll(async () => {
  edge = await startEdge({ context: { services: visitsFor(hearer) } });
});
afterAll(() => edge.close());
beforeEach(() => expect(hearer.requests.splice(0)).toEqual([]));

const answering = (answer: string) => answeringAt(edge, answer);
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody';
const GET = 'GET /path?q=1 HTTP/1.1\r\nHost: app.test\r\n\r\n';

test('say what they have decided, and the answer of one is told of like others', async () => {
  const settings = {
    ipRestriction: { enabled: true, allow: ['127.0.0.0/8'], deny: [] },
    userAgentFilter: { enabled: true, allow: [], deny: ['^bad'] },
    basicAuth: { enabled: true, realm: '', credentials: [{ username: 'jo', password: 'a secret!' }] },
  };
  handle(await answering(ANSWER), settings);
  const visitor = await visit(edge.port);
  const ask = async (agent: string, password: string) => {
    const authorization = Buffer.from(`jo:${password}`).toString('base64');
    visitor.send(
      `GET / HTTP/1.1\r\nHost: app.test\r\nUser-Agent: ${agent}\r\nAuthorization: Basic ${authorization}\r\n\r\n`,
    );
    return hearer.one();
  };
  const letIn = await ask('good', 'a secret!');
  expect(letIn.decisions).toEqual({
    ip_policy: 'allow',
    user_agent_filter: 'allow',
    basic_auth: { decision: 'allow', username: 'jo' },
  });
  const wrong = await ask('good', 'another!!');
  expect(wrong.decisions.basic_auth).toEqual({ decision: 'deny', username: 'jo' });
  expect(wrong.response).toMatchObject({ status: 401, isComplete: true });
  expect(field(wrong.response, 'www-authenticate')).toContain('Basic');
  expect(wrong.response?.bodyLength).toBe(Number(field(wrong.response, 'content-length')));
  const bad = await ask('bad', 'a secret!');
  expect(bad.decisions).toEqual({ ip_policy: 'allow', user_agent_filter: 'deny' });
  expect(JSON.stringify([letIn, wrong].map(({ decisions }) => decisions))).not.toContain('secret');
});

test('notes of a policy, and its own answer', async () => {
  const log = { type: 'log', config: { metadata: { path: '$' + '{req.url.path}' } } };
  const own = { type: 'custom-response', config: { status_code: 418, body: 'short' } };
  handle(await answering(ANSWER), { trafficPolicy: policyOf(log, log, own) });
  await (await visit(edge.port)).send(GET).until('short');
  const { decisions, response } = await hearer.one();
  expect(decisions).toEqual({ policyLogs: [{ path: '/path' }, { path: '/path' }] });
  expect(response).toMatchObject({ status: 418, bodyLength: 5, isComplete: true });
});

test('a connection that is closed without a word has no answer', async () => {
  handle(await answering(ANSWER), { trafficPolicy: policyOf({ type: 'close-connection' }) });
  await (await visit(edge.port)).send(GET).toEnd();
  expect((await hearer.one()).response).toBeUndefined();
});

test.each(['gzip', 'identity'])('compression, as it is really done: %s', async (coding) => {
  const body = 'compressible '.repeat(100);
  handle(await answering(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`), {
    compression: { enabled: true },
  });
  const visitor = await visit(edge.port);
  visitor.send(`GET / HTTP/1.0\r\nHost: app.test\r\nAccept-Encoding: ${coding}\r\n\r\n`);
  await visitor.toEnd();
  const sent = visitor.received.subarray(visitor.received.indexOf('\r\n\r\n') + 4);
  const { decisions, response } = await hearer.one();
  expect(response).toMatchObject({ bodyLength: sent.length, isComplete: true });
  if (coding === 'identity') return expect(decisions).toEqual({});
  expect(String(gunzipSync(sent))).toBe(body);
  expect(decisions).toEqual({ compression: { algorithm: 'gzip', bytesSaved: body.length - sent.length } });
  expect(field(response, 'content-encoding')).toBe('gzip');
});

test('a circuit breaker: lets pass, blocks, and lets one pass while it is open', async () => {
  const circuitBreaker = {
    enabled: true,
    trippedDuration: 0,
    rollingWindow: 10,
    numBuckets: 1,
    volumeThreshold: 1,
    errorThresholdPercentage: 0.1,
  };
  const script = await startScript();
  handle(edge.serve('app.test', script.port), { circuitBreaker });
  const ask = async () => (await visit(edge.port)).send(GET);
  const fail = async () => {
    const upstream = await script.next();
    await upstream.until('\r\n\r\n');
    upstream.send('HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n');
  };
  await ask();
  await fail();
  expect((await hearer.one()).decisions).toEqual({ circuit_breaker: 'allow' });
  const trial = await ask();
  const upstream = await script.next();
  await ask();
  expect((await hearer.one()).decisions).toEqual({ circuit_breaker: 'block' });
  upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  await trial.until('\r\n\r\n');
  expect((await hearer.one()).decisions).toEqual({ circuit_breaker: 'allow_while_open' });
});

test('a visitor who leaves while a module waits is told of, once', async () => {
  const waiting = new Waiting();
  const gate = waiting.holdRequests();
  Object.assign(await answering(ANSWER), { rules: waiting.rules });
  const visitor = await visit(edge.port);
  visitor.send(GET);
  await gate.reached;
  visitor.socket.resetAndDestroy();
  expect((await hearer.one()).response).toBeUndefined();
  gate.open({ kind: 'refuse', error: 'policyFailed', reason: 'late' });
  await new Promise(setImmediate);
  expect(hearer.requests).toEqual([]);
});
