import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { newCredential, type TestCredential } from '../support/live.ts';
import { httpName, sdkSession } from '../support/sdk.ts';
import { startUpstream } from '../support/traffic.ts';
import { visit } from '../support/visit.ts';

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.newAccount();
  credential = await newCredential(account);
});
afterAll(() => gateway?.close());

test('edge', async () => {
  const { ca } = gateway;
  const upstream = await startUpstream((request, response) =>
    response.end(`hello ${request.url} ${JSON.stringify(request.headers)}`),
  );
  const session = await sdkSession(gateway, credential.authtoken);
  await session.labeledListener().label('app', 'one').listenAndForward(upstream.url);
  const domain = await account.call('POST', '/reserved_domains', { domain: 'edge1.tunnel.localhost' });
  expect(domain.status).toBe(201);
  const backend = await account.call('POST', '/backends/tunnel_group', { labels: { app: 'one' } });
  const edge = await account.call('POST', '/edges/https', { hostports: ['edge1.tunnel.localhost:443'] });
  expect(edge.status, JSON.stringify(edge.body)).toBe(201);
  const go = (path = '/', headers = {}) =>
    visit(`https://edge1.tunnel.localhost${path}`, gateway.https, { ca, headers });
  expect(await go()).toMatchObject({ status: 404 });
  const route = await account.call('POST', `/edges/https/${edge.body.id}/routes`, {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: backend.body.id },
  });
  expect(route.status, JSON.stringify(route.body)).toBe(201);
  expect(await go('/x?y')).toMatchObject({ status: 200 });
  const { body } = await account.call('GET', '/endpoints');
  console.log(JSON.stringify(body.endpoints));
  const at = `/edges/https/${edge.body.id}/routes/${route.body.id}`;
  const policy = {
    on_http_request: [
      { expressions: ["req.url.path.startsWith('/no')"], actions: [{ type: 'deny' }] },
      { actions: [{ type: 'add-headers', config: { headers: { 'x-seen': '${conn.client_ip} ${req.method}' } } }] },
    ],
    on_http_response: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-out': 'yes' } } }] }],
  };
  const put = await account.call('PUT', `${at}/traffic_policy`, { value: JSON.stringify(policy) });
  expect(put.status, JSON.stringify(put.body)).toBe(200);
  const denied = await go('/no');
  console.log(denied);
  expect(denied.status).toBe(403);
  const seen = await go('/yes');
  console.log(seen);
  expect((await account.call('PUT', `${at}/compression`, {})).status).toBe(200);
  const zipped = await go('/yes', { 'accept-encoding': 'gzip' });
  console.log(zipped.headers);
});

test('sdk', async () => {
  const upstream = await startUpstream((request, response) =>
    response.end(`hello ${request.url} ${JSON.stringify(request.headers)}`),
  );
  const session = await sdkSession(gateway, credential.authtoken);
  const name = 'sdk1.tunnel.localhost';
  await httpName(session, name)
    .basicAuth('someone', 'a password')
    .requestHeader('x-a', '1')
    .responseHeader('x-b', '2')
    .compression()
    .listenAndForward(upstream.url);
  const go = (headers = {}) => visit(`http://${name}/`, gateway.http, { headers });
  console.log(await go());
  console.log(await go({ authorization: `Basic ${Buffer.from('someone:a password').toString('base64')}` }));
});
