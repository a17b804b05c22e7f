// Trying an event destination.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWebhook, type Webhook } from '../support/events/webhook.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let webhook: Webhook;
beforeAll(async () => {
  webhook = await startWebhook();
  gateway = await sharedGateway({ EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' });
});
afterAll(async () => {
  await webhook.close();
});

const target = (url = webhook.url) => ({ webhook: { url, signing_secret: 'not-shorter-than-16-bytes' } });

async function newDestination(account: Account, url?: string): Promise<string> {
  const { status, body } = await account.call('POST', '/event_destinations', { target: target(url) });
  expect(status).toBe(201);
  return body.id;
}

const trial = ({ call }: Account, id: string, headers = {}) =>
  call('POST', `/event_destinations/${id}/test`, undefined, { headers });

test('an event arrives, and the answer says which', async () => {
  const account = await gateway.newAccount();
  const before = webhook.requests.length;
  const id = await newDestination(account);
  expect(webhook.requests).toHaveLength(before);
  const { status, body } = await trial(account, id);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      ok: true,
      event_id: expect.stringMatching(/^ev_\w{27}$/),
      latency_ms: expect.any(Number),
      error_code: null,
      error_message: null,
    },
  });
  expect(webhook.requests.slice(before)).toEqual([[body.event_id]]);
  expect(webhook.types.at(-1)).toBe('event_destination_test.v0');
});

test.each([
  ['a refusal', 403, 'HTTP 403'],
  ['a failure', 503, 'HTTP 503'],
])('%s is the answer, and no trace is left of it', async (_, answer, code) => {
  const account = await gateway.newAccount();
  const id = await newDestination(account);
  webhook.answer = answer;
  const { status, body } = await trial(account, id);
  webhook.answer = 204;
  expect({ status, body }).toMatchObject({ status: 200, body: { ok: false, error_code: code } });
  expect(body.error_message).toEqual(expect.any(String));
  const { body: delivery } = await account.call('GET', `/event_destinations/${id}/delivery`);
  expect(delivery).toMatchObject({ state: 'ok', attempts: 0, waiting_events: 0, dead_letters: 0, last_error: null });
});

test('nobody at the address is the answer, too', async () => {
  const account = await gateway.newAccount();
  const { body } = await trial(account, await newDestination(account, 'http://127.0.0.1:1/'));
  expect(body).toMatchObject({ ok: false, error_code: 'ECONNREFUSED' });
});

test('secrets of another server key are the answer, too', async () => {
  const account = await gateway.newAccount();
  const id = await newDestination(account);
  const { prisma } = gateway.app;
  const { target: stored } = await prisma.eventDestination.findUniqueOrThrow({ where: { id } });
  const webhook = { ...(stored as { webhook: object }).webhook, signingSecret: 'sealed-by-nobody' };
  await prisma.eventDestination.update({ where: { id }, data: { target: { webhook } } });
  const { status, body } = await trial(account, id);
  expect({ status, body }).toMatchObject({ status: 200, body: { ok: false, error_code: 'SecretsUnreadable' } });
});

test('ten times a minute, for each account by itself', async () => {
  const account = await gateway.newAccount();
  const id = await newDestination(account);
  for (let i = 0; i < 10; i++) expect(await trial(account, id)).toMatchObject({ status: 200 });
  const { status, headers, body } = await trial(account, id);
  expect({ status, code: body.error_code }).toEqual({ status: 429, code: 'ERR_GATEWAY_90085' });
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  const { body: graphql } = await account.graphql(
    'mutation ($id: ID!) { testEventDestination(id: $id) { test { ok } } }',
    {
      id,
    },
  );
  expect(graphql.errors[0].extensions).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
  const other = await gateway.newAccount();
  expect(await trial(other, await newDestination(other))).toMatchObject({ status: 200 });
});

describe('with an idempotency key', () => {
  test('the second gets the answer of the first, and nothing is sent', async () => {
    const account = await gateway.newAccount();
    const id = await newDestination(account);
    const headers = { 'idempotency-key': 'once' };
    const first = await trial(account, id, headers);
    const sent = webhook.requests.length;
    const second = await trial(account, id, headers);
    expect(second.text).toBe(first.text);
    expect(webhook.requests).toHaveLength(sent);
    const another = await trial(account, await newDestination(account), headers);
    expect(another).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_90010' } });
  });

  test('while a target takes its time, others can write, and the same request is told so', async () => {
    const account = await gateway.newAccount();
    const id = await newDestination(account);
    const headers = { 'idempotency-key': 'slow' };
    let answer = () => {};
    webhook.answer = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const arrives = webhook.arrives();
    const first = trial(account, id, headers);
    await arrives;
    webhook.answer = 204;
    expect(await trial(account, id, headers)).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_90086' } });
    expect(await account.call('POST', '/credentials')).toMatchObject({ status: 201 });
    answer();
    const { status, text } = await first;
    expect(status).toBe(200);
    expect((await trial(account, id, headers)).text).toBe(text);
  });

  test('one that failed leaves the key unused', async () => {
    const account = await gateway.newAccount();
    const headers = { 'idempotency-key': 'failed' };
    const deleted = await newDestination(account);
    await account.call('DELETE', `/event_destinations/${deleted}`);
    expect(await trial(account, deleted, headers)).toMatchObject({ status: 404 });
    expect(await trial(account, await newDestination(account), headers)).toMatchObject({ status: 200 });
  });
});
