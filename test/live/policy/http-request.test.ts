// What a policy asks another server, seen from outside: by visitors who wait or leave, and in a trial run.

import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AskedServer, says, startAskedServer } from '../../policy/actions/asked-server.ts';
import { action } from '../../policy/documents/support.ts';
import { type PolicyLab, startPolicyLab, visitOverHttp2 } from './lab.ts';

const HOST = 'asking.tunnel.localhost';

let lab: PolicyLab;
let server: AskedServer;
beforeAll(async () => {
  lab = await startPolicyLab();
  server = await startAskedServer();
  await Promise.all([lab.tunnel('https', HOST, policy()), lab.tunnel('http', HOST, policy())]);
});
afterAll(async () => {
  await lab?.close();
  server?.close();
});
beforeEach(() => {
  server.asked = [];
  lab.upstream.asked = [];
});

const policy = () => ({
  on_http_request: [
    {
      actions: [
        action('http-request', { url: `${server.url}/in`, on_error: 'halt', timeout: '30s' }),
        action('add-headers', { headers: { 'x-said': '$' + '{actions.http_request.res.body}' } }),
      ],
    },
  ],
  on_http_response: [
    {
      expressions: ["hasReqHeader('x-late')"],
      actions: [action('http-request', { url: `${server.url}/out`, timeout: '30s' })],
    },
  ],
});

test('a visitor waits for it, while others are served', async () => {
  const release = new Promise<() => void>((resolve) => {
    server.answer = (...about) => resolve(() => says(200, 'slow')(...about));
  });
  const waiting = lab.visit(`https://${HOST}/`);
  const go = await release;
  server.answer = says(200, 'fast');
  expect(await visitOverHttp2(lab.gateway, `https://${HOST}/`)).toMatchObject({ status: 200 });
  go();
  expect(await waiting).toMatchObject({ status: 200 });
  expect(lab.upstream.asked.map(({ headers }) => headers['x-said'])).toEqual(['fast', 'slow']);
});

/** Visits that break off: the function that begins one returns the function that ends it. */
const ways = {
  async reset() {
    const [host = '', port] = lab.gateway.http.split(':');
    const visitor = connect(Number(port), host).on('error', () => {});
    await once(visitor, 'connect');
    visitor.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-Late: 1\r\n\r\n`);
    return () => visitor.resetAndDestroy();
  },
  async 'HTTP/2 stream'() {
    const session = connectHttp2(`https://${lab.gateway.https}`, { ca: lab.gateway.ca, servername: HOST });
    const stream = session.request({ ':path': '/', ':authority': HOST, 'x-late': '1' }).on('error', () => {});
    stream.on('close', () => session.close());
    return () => stream.close(constants.NGHTTP2_CANCEL);
  },
};

// The action itself would give up after 30 s only.
test.each([
  ['/in', 'reset'],
  ['/out', 'reset'],
  ['/in', 'HTTP/2 stream'],
] as const)('a visitor who leaves cancels it: %s, by %s', { timeout: 20_000 }, async (path, way) => {
  let leave: Promise<() => void>;
  const gone = new Promise<void>((resolve) => {
    server.answer = async (request, response, incoming) => {
      if (request.target !== path) return says(200)(request, response, incoming);
      response.on('close', resolve);
      (await leave)();
    };
  });
  leave = ways[way]();
  await gone;
  expect(lab.upstream.asked).toHaveLength(path === '/in' ? 0 : 1);
});

test('a visitor is told when there is no answer, and the log has the reason', async () => {
  server.answer = (_request, response) => response.destroy();
  const seen = await lab.visit(`https://${HOST}/`);
  expect(seen).toMatchObject({ status: 502, headers: { 'gateway-error-code': 'ERR_GATEWAY_90134' } });
  const operationId = seen?.headers['service-operation-id'];
  expect(server.asked.at(-1)?.headers['service-operation-id']).toBe(operationId);
  const line = await lab.gateway.logged((line) => line.operationId === operationId);
  expect(line.reason).toMatch(/action http-request: 127\.0\.0\.1:\d+ did not answer/);
});

test('a trial run really asks', async () => {
  server.answer = says(418, 'a teapot');
  const { body } = await lab.account.graphql(
    `query ($policy: String!) { evaluatePolicy(policy: $policy, request: { url: "https://${HOST}/" }) {
      rules { actions { type result } } outcome { request { headers { name value } } } } }`,
    { policy: JSON.stringify({ on_http_request: policy().on_http_request }) },
  );
  expect(body.errors).toBeUndefined();
  const { rules, outcome } = body.data.evaluatePolicy;
  expect(rules[0].actions[0].result.res).toMatchObject({ status_code: 418, body: 'a teapot' });
  expect(outcome.request.headers).toContainEqual({ name: 'x-said', value: 'a teapot' });
  expect(server.asked).toMatchObject([{ method: 'GET', target: '/in' }]);
});
