// What a policy asks other servers, and what becomes of their answers.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { HttpModule } from '../../../src/http/module.ts';
import { ReachableHosts } from '../../../src/net/reachable-hosts.ts';
import { OutboundHttp } from '../../../src/policy/calls/outbound-http.ts';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import { action, onRequest, onResponse } from '../documents/support.ts';
import { type ExchangeShape, environmentOf, exchangeOf } from '../exchange-support.ts';
import { type AskedServer, says, startAskedServer } from './asked-server.ts';

const owner = { accountId: 'ac_2test', proto: 'https' } as const;

let server: AskedServer;
let outbound: OutboundHttp;
beforeEach(async () => {
  server = await startAskedServer();
  outbound = new OutboundHttp({ hosts: new ReachableHosts([], true) });
});
afterEach(() => {
  outbound.close();
  server.close();
});

const ask = (config: object = {}) => action('http-request', { url: server.url, ...config });
/** Shows an expression to upstream. */
const shown = (expression: string) => action('add-headers', { headers: { 'x-shown': `\${${expression}}` } });
const res = 'actions.http_request.res';

function httpOf(policy: object, sent = outbound): Required<HttpModule> {
  const environment = { ...environmentOf(), sendOutbound: sent.send.bind(sent) };
  return compilePolicyDocument(policy, owner, environment).http as Required<HttpModule>;
}

/** Runs actions for a visitor. @returns the verdict, and what `shown` has shown. */
async function run(actions: object[], visitor: ExchangeShape = {}, sent = outbound) {
  const exchange = exchangeOf(visitor);
  const verdict = await httpOf(onRequest(actions), sent).onRequest(exchange);
  return { verdict, shown: exchange.request.fields.get('x-shown') };
}

describe('the request', () => {
  test('is what the policy says, computed for the visitor', async () => {
    const config = {
      url: `${server.url}/check/\${req.method}?a=1`,
      method: 'POST',
      query_params: [{ key: 'path', value: '${req.url.path}' }],
      headers: { Authorization: 'Bearer ${vars.token}', 'content-type': 'application/json' },
      body: '{"ip": "${conn.client_ip}"}',
    };
    await run([action('set-vars', { vars: [{ token: 'abc' }] }), ask(config)], { target: '/a/b' });
    expect(server.asked).toEqual([
      {
        method: 'POST',
        target: '/check/GET?a=1&path=%2Fa%2Fb',
        headers: expect.objectContaining({
          host: new URL(server.url).host,
          authorization: 'Bearer abc',
          'content-type': 'application/json',
          'content-length': '21',
          'user-agent': 'tunnel-gateway',
          'x-forwarded-for': '203.0.113.7',
          'service-operation-id': 'op_2test',
        }),
        body: '{"ip": "203.0.113.7"}',
      },
    ]);
  });

  test('has nothing of the visitor that the policy does not name', async () => {
    await run([ask()], { fields: { cookie: 'session=1', authorization: 'Basic YTpi', 'x-own': '1' } });
    const { headers } = server.asked[0] ?? {};
    for (const name of ['cookie', 'authorization', 'x-own', 'content-length']) expect(headers).not.toHaveProperty(name);
  });

  test('goes over a connection that is there, and again over another one when the server has closed it', async () => {
    for (let i = 0; i < 3; i++) await run([ask()]);
    expect([server.asked.length, server.connections]).toEqual([3, 1]);
    server.disconnect();
    expect((await run([ask(), shown(`${res}.body`)])).shown).toBe('fine');
  });

  test('is not sent once the visitor’s own one was caused by three such requests', async () => {
    const visitor = { fields: { 'cdn-loop': 'tunnel-gateway, other; a=b, tunnel-gateway' } };
    await run([ask()], visitor);
    const loop = server.asked[0]?.headers['cdn-loop'] as string;
    const { verdict } = await run([ask({ on_error: 'halt' })], { fields: { 'cdn-loop': loop } });
    expect(verdict).toMatchObject({ error: 'callFailed', reason: expect.stringContaining('in a circle') });
    expect(server.asked).toHaveLength(1);
  });
});

describe('the response', () => {
  test('is there for the rules after it, headers by name in any case', async () => {
    server.answer = says(404, '{"plan": "gold"}', { 'X-Plan': 'gold' });
    const expression = `string(${res}.status_code) + ${res}.headers['x-plan'][0] + ${res}.body.decodeJson().plan`;
    expect((await run([ask(), shown(expression)])).shown).toBe('404goldgold');
    expect((await run([ask(), shown('actions.http_request.attempts.size()')])).shown).toBe('1');
    const exchange = exchangeOf({ status: 200 });
    await httpOf(onResponse([ask(), shown(`${res}.header['X-PLAN'][0]`)])).onResponse(exchange);
    expect(exchange.response?.fields.get('x-shown')).toBe('gold');
  });

  test('is decoded, and refused when it has more than 256 KiB then', async () => {
    server.answer = says(200, gzipSync('packed'), { 'content-encoding': 'gzip' });
    expect((await run([ask(), shown(`${res}.body`)])).shown).toBe('packed');
    const halting = ask({ on_error: 'halt' });
    for (const body of [gzipSync(Buffer.alloc(300_000)), Buffer.alloc(300_000)]) {
      server.answer = says(200, body, body.length < 300_000 ? { 'content-encoding': 'gzip' } : {});
      const { verdict } = await run([halting]);
      expect(verdict).toMatchObject({ error: 'callFailed', reason: expect.stringContaining('more than 262144 bytes') });
    }
    server.answer = says(200, 'not gzip', { 'content-encoding': 'gzip' });
    expect((await run([halting])).verdict).toMatchObject({ reason: expect.stringContaining('not valid gzip') });
  });

  test('that never comes is told, and rejects the visitor only where the policy halts, or reads it', async () => {
    server.answer = (_request, response) => response.destroy();
    const told = shown('actions.http_request.error.code');
    expect(await run([ask(), told])).toEqual({ verdict: undefined, shown: 'ERR_GATEWAY_90134' });
    expect((await run([ask({ on_error: 'halt' })])).verdict).toMatchObject({ kind: 'refuse', error: 'callFailed' });
    expect((await run([ask(), shown(`${res}.body`)])).verdict).toMatchObject({ error: 'policyFailed' });
  });

  test('is waited for as long as the policy says, also when memory is collected meanwhile', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    // Node 20 forgets timeouts that only a combined signal refers to.
    const collecting = setInterval(collect, 50);
    onTestFinished(() => clearInterval(collecting));
    server.answer = () => {};
    const { verdict } = await run([ask({ timeout: '1s', on_error: 'halt', retry_condition: 'true' })]);
    expect(verdict).toMatchObject({ error: 'callTimedOut' });
    expect(server.asked).toHaveLength(1);
  });

  test('is not waited for when the visitor leaves, and the request is cancelled', async () => {
    const leaving = new AbortController();
    const cancelled = new Promise((resolve) => {
      server.answer = (_request, response) => {
        response.on('close', resolve);
        leaving.abort();
      };
    });
    const { verdict } = await run([ask(), shown(`${res}.body`)], { signal: leaving.signal });
    expect(verdict).toMatchObject({ kind: 'close' });
    await cancelled;
  });
});

test('a request is sent again while the policy wants it, three times at most', async () => {
  const statuses = [503, 503, 200];
  server.answer = (...about) => says(statuses.shift() ?? 503)(...about);
  const retrying = ask({ retry_condition: 'last_attempt.res.status_code >= 500 && attempts < 9' });
  const each = "actions.http_request.attempts.map(a, string(a.response_status_code)).join(' ')";
  expect((await run([retrying, shown(each)])).shown).toBe('503 503 200');
  expect((await run([retrying, shown(each)])).shown).toBe('503 503 503 503');
  expect((await run([ask({ retry_condition: 'attempts > 1' }), shown(each)])).shown).toBe('503');
});

describe('redirects', () => {
  test('are followed, and what is for the first server is not sent to another one', async () => {
    const other = await startAskedServer(says(200, 'from the other'));
    try {
      server.answer = (request, ...rest) =>
        says(302, '', { location: request.target === '/' ? '/next' : other.url })(request, ...rest);
      const config = { method: 'POST', body: 'a', headers: { 'x-key': 'secret', accept: 'text/plain' } };
      expect((await run([ask(config), shown(`${res}.body`)])).shown).toBe('from the other');
      expect(server.asked.map(({ method, headers }) => [method, headers['x-key']])).toEqual([
        ['POST', 'secret'],
        ['GET', 'secret'],
      ]);
      expect(other.asked).toMatchObject([{ method: 'GET', body: '', headers: { accept: 'text/plain' } }]);
      expect(other.asked[0]?.headers).not.toHaveProperty('x-key');
    } finally {
      other.close();
    }
  });

  test('keep the method and the body where they say so', async () => {
    server.answer = (request, ...rest) =>
      (request.target === '/' ? says(307, '', { location: '/next' }) : says(200))(request, ...rest);
    await run([ask({ method: 'PUT', body: 'all of it' })]);
    expect(server.asked.at(-1)).toMatchObject({ method: 'PUT', target: '/next', body: 'all of it' });
  });

  test('are followed as often as the policy says; with none, they are the response', async () => {
    server.answer = says(302, '', { location: '/again' });
    const { verdict } = await run([ask({ max_redirects: 2, on_error: 'halt' })]);
    expect(verdict).toMatchObject({ error: 'callFailed', reason: expect.stringContaining('more than 2 redirects') });
    expect(server.asked).toHaveLength(3);
    expect((await run([ask({ max_redirects: 0 }), shown(`${res}.status_code`)])).shown).toBe('302');
  });
});

test('an account has 64 requests at a time, and others are not kept from theirs', async () => {
  const held: (() => void)[] = [];
  server.answer = (request, response) => held.push(() => says(200)(request, response, response.req));
  const asking = Array.from({ length: 64 }, () => run([ask({ on_error: 'halt', timeout: '30s' })]));
  await expect.poll(() => held.length).toBe(64);
  expect((await run([ask({ on_error: 'halt' })])).verdict).toMatchObject({ kind: 'refuse', error: 'tooManyCalls' });
  const request = { method: 'GET', url: new URL(server.url), fields: [], body: undefined };
  const other = outbound.send('ac_other', request, new AbortController().signal);
  await expect.poll(() => held.length).toBe(65);
  for (const release of held) release();
  expect((await other).status).toBe(200);
  expect((await Promise.all(asking)).map(({ verdict }) => verdict)).toEqual(Array(64).fill(undefined));
  server.answer = says(200);
  expect((await run([ask({ on_error: 'halt' })])).verdict).toBeUndefined();
});
