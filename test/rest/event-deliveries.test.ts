// How delivery to a destination goes, as its owner sees it: what waits, what failed, what was refused for good.

import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { delivery, startWebhook, type Webhook } from '../support/events/webhook.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type Subscription, subscribe } from '../support/gateway/sse.ts';

let gateway: TestGateway;
let account: Account;
let webhook: Webhook;
let id: string;
let stream: Subscription;
beforeAll(async () => {
  gateway = await sharedGateway({ EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' });
});

const target = (url: string) => ({ webhook: { url, signing_secret: 'not-shorter-than-16-bytes' } });
const FIELDS =
  'state waitingEvents waitingBytes deliveredEvents deadLetters attempts nextAttemptAt lastDeliveredAt lastError { code }';

beforeEach(async () => {
  webhook = await startWebhook();
  account = await gateway.newAccount();
  const { body } = await account.call('POST', '/event_destinations', { target: target(webhook.url) });
  id = body.id;
  await account.call('POST', '/event_subscriptions', {
    sources: [{ type: 'bot_user_created.v0' }],
    destination_ids: [id],
  });
  const query = `subscription ($id: ID!) { eventDeliveryChanged(destinationId: $id) { ${FIELDS} } }`;
  stream = await subscribe(gateway.api, account.key, query, { id });
});
afterEach(async () => {
  stream.close();
  await webhook.close();
});

const makeEvent = async (name: string) =>
  expect(await account.call('POST', '/bot_users', { name })).toMatchObject({ status: 201 });
const look = async () => (await account.call('GET', `/event_destinations/${id}/delivery`)).body;
const letters = async () => (await account.call('GET', `/event_destinations/${id}/dead_letters`)).body.dead_letters;

test('what is delivered is counted', async () => {
  expect(await delivery(stream, () => true)).toMatchObject({ state: 'OK', deliveredEvents: 0, lastDeliveredAt: null });
  await makeEvent('one');
  await delivery(stream, ({ deliveredEvents }) => deliveredEvents === 1);
  expect(await look()).toMatchObject({
    ...{ destination_id: id, state: 'ok', delivered_events: 1, waiting_events: 0, waiting_bytes: 0, attempts: 0 },
    ...{ oldest_waiting_at: null, next_attempt_at: null, last_error: null, dropped_events: 0 },
    last_delivered_at: expect.stringMatching(/Z$/),
  });
});

test('what fails waits, and is tried at once when the target is mended', async () => {
  webhook.answer = 401;
  await makeEvent('one');
  await makeEvent('two');
  await delivery(stream, ({ waitingEvents, attempts }) => waitingEvents === 2 && attempts > 0);
  expect(await look()).toMatchObject({
    ...{ state: 'failing', waiting_events: 2, delivered_events: 0 },
    oldest_waiting_at: expect.stringMatching(/Z$/),
    next_attempt_at: expect.stringMatching(/Z$/),
    last_error: { code: 'HTTP 401', message: expect.any(String), at: expect.stringMatching(/Z$/) },
  });
  expect((await look()).waiting_bytes).toBeGreaterThan(0);

  // The next attempt is seconds to minutes away.
  const mended = await startWebhook();
  const change = { target: target(mended.url) };
  expect(await account.call('PATCH', `/event_destinations/${id}`, change)).toMatchObject({ status: 200 });
  await delivery(stream, ({ deliveredEvents }) => deliveredEvents === 2);
  expect(mended.requests.flat()).toHaveLength(2);
  expect(await look()).toMatchObject({ state: 'ok', attempts: 0, waiting_events: 0, last_error: { code: 'HTTP 401' } });
  await mended.close();
});

test('what is refused for good is a dead letter, which can be sent again and thrown away', async () => {
  webhook.answer = 400;
  for (const name of ['one', 'two', 'three']) await makeEvent(name);
  await delivery(stream, ({ deadLetters }) => deadLetters === 3);
  const [newest, second, oldest] = await letters();
  expect(newest).toMatchObject({ event_type: 'bot_user_created.v0', error_code: 'HTTP 400' });
  expect(JSON.parse(newest.event)).toMatchObject({ event_id: newest.event_id, object: { name: 'three' } });
  const path = `/event_destinations/${id}/dead_letters`;
  expect(await account.call('GET', `${path}/${second.id}`)).toMatchObject({ status: 200, body: second });
  expect((await account.call('GET', `${path}?limit=1`)).body.next_page_uri).toContain(`${path}?before_id=${newest.id}`);

  webhook.answer = 204;
  expect(await account.call('POST', `${path}/${second.id}/retry`)).toMatchObject({ status: 204 });
  await delivery(stream, ({ deliveredEvents }) => deliveredEvents === 1);
  expect(webhook.requests.at(-1)).toEqual([second.event_id]);
  expect(await account.call('DELETE', `${path}/${newest.id}`)).toMatchObject({ status: 204 });
  for (const gone of [newest, second])
    for (const [method, end] of [['GET', ''] as const, ['DELETE', ''] as const, ['POST', '/retry'] as const])
      expect(await account.call(method, `${path}/${gone.id}${end}`)).toMatchObject({ status: 404 });

  expect(await account.call('POST', `${path}/retry`)).toMatchObject({ status: 200, body: { count: 1 } });
  await delivery(stream, ({ deliveredEvents }) => deliveredEvents === 2);
  expect(webhook.requests.at(-1)).toEqual([oldest.event_id]);
  expect(await account.call('DELETE', path)).toMatchObject({ status: 200, body: { count: 0 } });
  expect(await look()).toMatchObject({ dead_letters: 0, waiting_events: 0 });
});

test('dead letters that are sent again under an idempotency key are sent once', async () => {
  webhook.answer = 400;
  await makeEvent('one');
  await delivery(stream, ({ deadLetters }) => deadLetters === 1);
  webhook.answer = 204;
  const again = () =>
    account.call('POST', `/event_destinations/${id}/dead_letters/retry`, undefined, {
      headers: { 'idempotency-key': 'again' },
    });
  expect((await again()).body).toEqual({ count: 1 });
  expect((await again()).body).toEqual({ count: 1 });
  await delivery(stream, ({ deliveredEvents }) => deliveredEvents === 1);
});
