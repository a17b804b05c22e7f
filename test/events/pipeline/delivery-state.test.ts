// What is said of delivery is what the receiver saw, at every step and at every moment.

import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  change,
  changeAll,
  deliveryOf,
  newDestination,
  subscribeTo,
  upTo,
  webhookAt,
} from '../../support/events/pipeline-account.ts';
import { numbers, type Receiver, startReceiver } from '../../support/events/pipeline-receiver.ts';
import { delivery } from '../../support/events/webhook.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { subscribe } from '../../support/gateway/sse.ts';

const FIELDS = `destinationId state attempts nextAttemptAt waitingEvents waitingBytes oldestWaitingAt deliveredEvents
  droppedEvents deadLetters lastDeliveredAt lastError { code message at } uri`;

let gateway: TestGateway;
let account: Account;
let receiver: Receiver;
let id: string;
beforeAll(async () => {
  gateway = await sharedGateway({ EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' });
});
beforeEach(async () => {
  account = await gateway.newAccount();
  receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  id = await newDestination(account, receiver.url);
  await subscribeTo(account, [id]);
});

test('at every moment each written event is counted once: as waiting, delivered or dead', async () => {
  let refused = 0;
  receiver.answer = (ids) => {
    if (ids.length > 1 || receiver.requests % 3 > 0) return ids.length > 3 ? 413 : 204;
    refused++;
    return 400;
  };
  const count = 40;
  let [begun, made, looks] = [0, 0, 0];
  let isOver = false;
  const look = async () => {
    while (!isOver) {
      const least = made;
      const shown = await deliveryOf(account, id);
      const [most, taken] = [begun, receiver.taken.length];
      const { delivered_events: delivered, waiting_events: waiting, dead_letters: dead } = shown;
      const all = delivered + waiting + dead + shown.dropped_events;
      expect(all, JSON.stringify(shown)).toBeGreaterThanOrEqual(least);
      expect(all, JSON.stringify(shown)).toBeLessThanOrEqual(most);
      expect(delivered).toBeLessThanOrEqual(taken);
      expect(dead).toBeLessThanOrEqual(refused);
      expect(shown.waiting_bytes > 0).toBe(waiting > 0);
      expect(shown.oldest_waiting_at !== null).toBe(waiting > 0);
      looks++;
    }
  };
  const write = async () => {
    for (const n of upTo(count)) {
      begun++;
      await change(account, n);
      made++;
    }
    await receiver.until(() => receiver.taken.length + refused >= count);
    isOver = true;
  };
  await Promise.all([write(), look(), look()]);
  expect(looks).toBeGreaterThan(20);
  const stream = await watch();
  const end = await delivery(stream, ({ waitingEvents }) => waitingEvents === 0);
  expect(end).toMatchObject({ deliveredEvents: receiver.taken.length, deadLetters: refused, droppedEvents: 0 });
});

const watch = () =>
  subscribe(
    gateway.api,
    account.key,
    `subscription ($id: ID!) { eventDeliveryChanged(destinationId: $id) { ${FIELDS} } }`,
    {
      id,
    },
  );

test('each step of failing and recovering is shown to subscriptions and to queries', async () => {
  const stream = await watch();
  const told = async (test: Parameters<typeof delivery>[1]) => {
    const { lastError, ...shown } = await delivery(stream, test);
    const asked = await deliveryOf(account, id);
    if (asked.attempts === shown.attempts) {
      const { state, waitingEvents, deliveredEvents, deadLetters } = shown;
      const same = {
        state: state.toLowerCase(),
        waiting_events: waitingEvents,
        delivered_events: deliveredEvents,
        dead_letters: deadLetters,
      };
      // REST has times to the second.
      const at = lastError?.at.replace(/\.\d{3}Z$/, 'Z');
      expect(asked).toMatchObject({ ...same, last_error: lastError && { ...lastError, at } });
    }
    return { lastError, ...shown };
  };
  const nothing = { waitingEvents: 0, deliveredEvents: 0, attempts: 0, nextAttemptAt: null, lastDeliveredAt: null };
  expect(await told(() => true)).toMatchObject({ state: 'OK', ...nothing, lastError: null, oldestWaitingAt: null });

  let answer = (_: number) => {};
  receiver.answer = () => new Promise((resolve) => (answer = resolve));
  await change(account, 0);
  await receiver.until(() => receiver.requests === 1);
  expect(await told(({ waitingEvents }) => waitingEvents === 1)).toMatchObject({ state: 'OK', deliveredEvents: 0 });
  receiver.answer = () => 503;
  answer(503);
  const failed = await told(({ attempts }) => attempts > 0);
  expect(failed).toMatchObject({ state: 'RETRYING', waitingEvents: 1, lastError: { code: 'HTTP 503' } });
  expect(failed.nextAttemptAt).not.toBeNull();
  await receiver.until(() => receiver.requests >= 2);
  const again = await told(({ attempts }) => attempts > 1);
  expect(again.attempts).toBeLessThanOrEqual(receiver.requests);
  expect(Date.parse(again.nextAttemptAt)).toBeLessThanOrEqual(Date.now() + 2 ** receiver.requests * 1000);

  receiver.answer = () => 401;
  const retry = async (at = receiver.url) =>
    expect((await account.call('PATCH', `/event_destinations/${id}`, { target: webhookAt(at) })).status).toBe(200);
  await retry();
  const failing = await told(({ state }) => state === 'FAILING');
  expect(failing).toMatchObject({ waitingEvents: 1, deliveredEvents: 0, lastError: { code: 'HTTP 401' } });
  expect(failing.attempts).toBeGreaterThan(0);

  await change(account, 1);
  receiver.answer = () => 204;
  await retry();
  const mended = await told(({ deliveredEvents }) => deliveredEvents === 2);
  expect(mended).toMatchObject({ state: 'OK', attempts: 0, nextAttemptAt: null, waitingEvents: 0, waitingBytes: 0 });
  expect(mended).toMatchObject({ oldestWaitingAt: null, lastError: { code: 'HTTP 401' } });
  expect(numbers(receiver.taken)).toEqual([0, 1]);

  receiver.answer = () => 400;
  await changeAll(account, 2, 3);
  const dead = await told(({ deadLetters }) => deadLetters === 1);
  expect(dead).toMatchObject({ state: 'OK', waitingEvents: 0, deliveredEvents: 2, attempts: 0 });
  expect((await account.call('DELETE', `/event_destinations/${id}/dead_letters`)).body).toEqual({ count: 1 });
  await told(({ deadLetters }) => deadLetters === 0);
  stream.close();
});
