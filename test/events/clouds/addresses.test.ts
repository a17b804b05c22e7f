// Where webhooks end up: whatever the API let through, connections are made only to what the operator allows.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpCloud, startHttpCloud } from '../../support/events/http-cloud.ts';
import { startWebhook, type Webhook } from '../../support/events/webhook.ts';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';

let receiver: HttpCloud;
let plain: Webhook;
let place: Place;
let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  [receiver, plain, place] = await Promise.all([startHttpCloud(), startWebhook(), newPlace()]);
  gateway = await start('127.0.0.0/8,::1/128');
  account = await gateway.newAccount();
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([receiver.close(), plain.close(), place.remove()]);
});

async function start(hosts: string): Promise<TestGateway> {
  const EVENT_CA_FILE = await receiver.writeCa(join(place.dataDir, 'receiver.pem'));
  return startTestGateway({ EVENT_WEBHOOK_HOSTS: hosts, EVENT_CA_FILE }, { place });
}

const call: Account['call'] = (method, path, body) => gateway.call(method, path, body, { key: account.key });

/** A destination that hears of the account's bot users. @returns its path. */
async function newHook(url: string): Promise<string> {
  const target = { webhook: { url, signing_secret: 'not-shorter-than-16-bytes' } };
  const { status, body, text } = await call('POST', '/event_destinations', { target });
  expect(status, text).toBe(201);
  const sources = [{ type: 'bot_user_created.v0' }];
  await call('POST', '/event_subscriptions', { sources, destination_ids: [body.id] });
  return `/event_destinations/${body.id}`;
}

let names = 0;
const makeEvent = async () =>
  expect(await call('POST', '/bot_users', { name: `bot ${++names}` })).toMatchObject({ status: 201 });
const trial = async (path: string) => (await call('POST', `${path}/test`)).body;
/** How delivery stands, as soon as it has failed. */
const failed = (path: string) =>
  expect.poll(async () => (await call('GET', `${path}/delivery`)).body, { timeout: 15_000, interval: 20 });

test('what is in a network that the operator lists is reached: by address and by name, over https and http', async () => {
  const urls = [`${receiver.url}/hook`, plain.url, plain.url.replace('127.0.0.1', 'localhost')];
  for (const url of urls) {
    const { ok, event_id, error_message } = await trial(await newHook(url));
    expect(ok, error_message).toBe(true);
    if (url.startsWith('http:')) expect(plain.requests.at(-1)).toEqual([event_id]);
  }
});

test('a redirection is not followed', async () => {
  const path = await newHook(`${receiver.url}/hook`);
  const before = receiver.requests.length;
  const elsewhere = { status: 302, headers: { location: `${receiver.url}/elsewhere` } };
  receiver.script('webhook', Array(20).fill(elsewhere));
  await makeEvent();
  await failed(path).toMatchObject({ state: 'failing', waiting_events: 1, last_error: { code: 'HTTP 302' } });
  expect(await trial(path)).toMatchObject({ ok: false, error_code: 'HTTP 302' });
  expect(new Set(receiver.requests.slice(before).map((request) => request.path))).toEqual(new Set(['/hook']));
  receiver.script('webhook', []);
});

test('what was stored before the operator allowed less is not reached any more', async () => {
  const byAddress = await newHook(plain.url);
  const byName = await newHook(`${receiver.url}/hook`);
  const plainly = await newHook(plain.url.replace('127.0.0.1', 'localhost'));
  await gateway.close();
  gateway = await start('localhost,hooks.example.com');
  const [connections, requests] = [receiver.connections, plain.requests.length];
  await makeEvent();
  const forbidden = 'the host is at an address that events may not be sent to';
  for (const [path, code, message] of [
    [byAddress, 'FORBIDDEN_HOST', expect.stringContaining('must be at a host that the operator allows')],
    [byName, 'FORBIDDEN_ADDRESS', forbidden],
    [plainly, 'FORBIDDEN_HOST', expect.stringContaining('http:// is for networks')],
  ] as const) {
    await failed(path).toMatchObject({ state: 'failing', waiting_events: 1, last_error: { code, message } });
    expect(await trial(path)).toMatchObject({ ok: false, error_code: code, error_message: message });
  }
  expect([receiver.connections, plain.requests.length]).toEqual([connections, requests]);
});

test('a name of no rule, where networks are listed, leads nowhere else than into them', async () => {
  await gateway.close();
  gateway = await start('127.0.0.2/32,10.0.0.0/8');
  const [connections, requests] = [receiver.connections, plain.requests.length];
  for (const url of [`${receiver.url}/hook`, plain.url.replace('127.0.0.1', 'localhost')]) {
    const path = await newHook(url);
    await makeEvent();
    await failed(path).toMatchObject({ state: 'failing', last_error: { code: 'FORBIDDEN_ADDRESS' } });
    const { error_code, error_message } = await trial(path);
    expect(error_code).toBe('FORBIDDEN_ADDRESS');
    expect(error_message).not.toMatch(/127|::1|localhost/);
  }
  expect([receiver.connections, plain.requests.length]).toEqual([connections, requests]);
});
