// What is told of visitors who sign in: to caches between them and the gateway, and in traffic events.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { REQUESTS, startReceiver, trafficGateway } from '../live/traffic-events/lab.ts';
import type { TestGateway } from '../support/gateway/gateway.ts';
import { CLIENT } from './provider.ts';
import { type Stage, setStage } from './support.ts';

let gateway: TestGateway;
let stage: Stage;
beforeAll(async () => {
  gateway = await trafficGateway();
  stage = await setStage(gateway);
});
afterAll(() => stage.close());

test('what a visitor gets says to caches that others get something else, once, and not where nobody signs in', async () => {
  const vary = { actions: [{ type: 'add-headers', config: { headers: { vary: 'Accept, cookie' } } }] };
  const rule = { expressions: ["req.url.path.startsWith('/staff')"] };
  const origin = await stage.serve({}, { rule });
  const { page, browser } = await stage.signIn(`${origin}/staff`);
  expect([page.status, page.headers.vary]).toEqual([200, 'Cookie']);
  expect((await browser.open(`${origin}/`)).headers.vary).toBeUndefined();
  const config = { issuer_url: stage.provider.issuer, ...CLIENT };
  const request = [{ actions: [{ type: 'openid-connect', config }] }];
  const told = await stage.servePolicy({ on_http_request: request, on_http_response: [vary] });
  expect((await stage.signIn(`${told}/`)).page.headers.vary).toBe('Accept, cookie');
  const failed = await browser.open(`${origin}/_gateway/oauth2/finish?answer=a`);
  expect([failed.status, failed.headers['cache-control']]).toEqual([400, 'no-store']);
});

test('events have who the visitor was, and whether the action let the request pass', async () => {
  const receiver = await startReceiver();
  const fields = ['oauth', 'http.request.url.path'];
  const ear = await receiver.hear(gateway, [{ type: REQUESTS, fields }]);
  const origin = await stage.serve();
  const { browser } = await stage.signIn(`${origin}/begun`, 'ann');
  await browser.open(`${origin}/signed-in`);
  await stage.browser().open(`${origin}/stranger`, { follows: false });
  const [signedIn, stranger] = [await ear.about('/signed-in'), await ear.about('/stranger')];
  expect([signedIn.object.oauth, stranger.object.oauth]).toEqual([
    { app_client_id: 'shop', decision: 'allow', user: { id: 'ann', name: 'Name of ann' } },
    { app_client_id: 'shop', decision: 'deny', user: { id: '', name: '' } },
  ]);
  receiver.close();
});
