// Modules and HTTP/2: what they do to visitors who speak it.

import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { done, http2Visitor, labelled, newEdge, newName, type Shown, startShowing } from '../edges/support.ts';
import { credentialsOf, passwordOf, signed } from './cases.ts';

let gateway: TestGateway;
let account: Account;
let authtoken: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  ({ authtoken } = await newCredential(account));
});

/** A visitor who stays on one connection all the time, and the modules of the route that it visits. */
async function visited() {
  const labels = { app: newName() };
  await labelled(await sdkSession(gateway, authtoken), labels, (await startShowing()).url);
  const edge = await newEdge(account, { labels });
  const get = await http2Visitor(gateway, edge);
  const set = (module: string, settings: object) => done(account, 'PUT', `${edge.host}/${module}`, settings);
  return { get, set, unset: (module: string) => done(account, 'DELETE', `${edge.host}/${module}`) };
}

const shownIn = (body: Buffer): Shown => JSON.parse(body.toString());

test('answers are compressed as they are stored to be, on a connection that is open', async () => {
  const { get, set, unset } = await visited();
  const accepted = { 'accept-encoding': 'gzip' };
  expect((await get('/', accepted)).headers['content-encoding']).toBeUndefined();
  await set('compression', {});
  const { headers, body } = await get('/', accepted);
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  expect(shownIn(gunzipSync(body))).toMatchObject({ upstream: 'one', url: '/' });
  expect((await get('/')).headers['content-encoding']).toBeUndefined();
  await unset('compression');
  expect((await get('/', accepted)).headers['content-encoding']).toBeUndefined();
});

test('a password is asked for, and a signature, each with an id that finds the reason in the log', async () => {
  const { get, set } = await visited();
  await set('basic_auth', credentialsOf('one'));
  await set('webhook_verification', { provider: 'github', secret: 'secret one' });
  const { headers: signature, body = '' } = signed('secret one');
  const fates = [
    [{}, 401, 'basic_auth'],
    [passwordOf('two'), 401, 'basic_auth'],
    [passwordOf('one'), 403, 'webhook_verification'],
  ] as const;
  for (const [headers, status, module] of fates) {
    const answer = await get('/', headers, String(body));
    expect(answer.status).toBe(status);
    const operationId = answer.headers['service-operation-id'];
    expect(await gateway.logged((line) => line.operationId === operationId)).toMatchObject({ module, status });
  }
  const answer = await get('/', { ...passwordOf('one'), ...signature }, String(body));
  expect(answer.status).toBe(200);
  expect(shownIn(answer.body)).toMatchObject({ method: 'POST', body });
});

test('a policy and the header modules change requests and answers, and a policy answers itself', async () => {
  const { get, set } = await visited();
  await set('request_headers', { add: { 'X-Added': 'in' } });
  await set('response_headers', { add: { 'X-Added': 'out' }, remove: ['content-type'] });
  const value = JSON.stringify({
    on_http_request: [
      {
        expressions: ["req.url.path == '/own'", "req.method == 'GET'"],
        actions: [
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the policy fills it in
          { type: 'custom-response', config: { status_code: 203, body: '${req.host}', headers: { 'X-Own': 'yes' } } },
        ],
      },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the policy fills it in
      { actions: [{ type: 'add-headers', config: { headers: { 'x-name': '${conn.tls.sni}' } } }] },
    ],
  });
  await set('traffic_policy', { value });
  const answer = await get('/');
  expect(answer.headers).toMatchObject({ ':status': 200, 'x-added': 'out' });
  expect(answer.headers['content-type']).toBeUndefined();
  const { headers } = shownIn(answer.body);
  expect(headers).toMatchObject({ 'x-added': 'in', 'x-name': headers.host });
  const own = await get('/own');
  expect(own).toMatchObject({ status: 203, headers: { 'x-own': 'yes' } });
  expect(own.body.toString()).toBe(headers.host);
});

test('a route that converts WebSockets takes no other request', async () => {
  const { get, set } = await visited();
  await set('websocket_tcp_converter', {});
  expect(await get('/')).toMatchObject({ status: 426, headers: { 'gateway-error-code': 'ERR_GATEWAY_90128' } });
});
