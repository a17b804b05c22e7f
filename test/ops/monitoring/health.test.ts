import { get } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

const ask = (path: string, method = 'GET') => fetch(gateway.admin + path, { method });

test('a gateway that serves is live and ready', async () => {
  for (const path of ['/livez', '/readyz', '/readyz?verbose']) {
    const answer = await ask(path);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok\n']);
  }
});

test('requests are counted by method and status, and timed', async () => {
  await gateway.call('POST', '/credentials');
  const refused = await gateway.call('PUT', '/credentials');
  await gateway.logged(({ operation_id }) => operation_id === refused.headers['service-operation-id']);
  const answer = await ask('/metrics');
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  expect(text).toMatch(/^api_requests_total\{method="POST",status="201"\} 1$/m);
  expect(text).toMatch(/^api_requests_total\{method="PUT",status="405"\} 1$/m);
  expect(text).toMatch(/^api_request_duration_seconds_count [1-9]/m);
  expect(text).toMatch(/^process_cpu_user_seconds_total /m);
});

test('metrics name no account, no id and no path, which have no bound', async () => {
  const { body } = await gateway.call('POST', '/credentials');
  await gateway.call('GET', `/credentials/${body.id}`);
  const text = await (await ask('/metrics')).text();
  for (const word of [body.id, gateway.accountId, gateway.ownerId, '/credentials']) expect(text).not.toContain(word);
});

test('the admin listener has nothing else, changes nothing, and the API listener has none of it', async () => {
  expect((await ask('/')).status).toBe(404);
  expect((await ask('/credentials')).status).toBe(404);
  expect((await ask('/metrics', 'POST')).status).toBe(405);
  for (const path of ['/metrics', '/livez', '/readyz']) expect((await gateway.call('GET', path)).status).toBe(404);
});

test('no page of elsewhere reads them: the name that it was asked for at must be an address, a local name or the gateway’s own', async () => {
  const statusFor = (host: string) =>
    new Promise((resolve) =>
      get(`${gateway.admin}/metrics`, { headers: { host } }, (answer) => resolve(answer.resume().statusCode)),
    );
  for (const host of [
    'rebound.example',
    'rebound.example:4001',
    '127.0.0.1.example.',
    'x.tunnel.localhost.example',
    'a:b.example',
  ])
    expect([host, await statusFor(host)]).toEqual([host, 421]);
  for (const host of ['127.0.0.1:9', '[::1]', 'localhost:4001', 'LOCALHOST.', 'gateway:4001', 'tunnel.localhost'])
    expect([host, await statusFor(host)]).toEqual([host, 200]);
});
