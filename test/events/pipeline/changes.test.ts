// Destinations and subscriptions that change or go while their events are on the way.

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
import { distinct, numbers, type Receiver, startReceiver } from '../../support/events/pipeline-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway({ EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' });
});
beforeEach(async () => {
  account = await gateway.newAccount();
});

async function receiver(): Promise<Receiver> {
  const started = await startReceiver();
  onTestFinished(() => started.close());
  return started;
}
const until = (check: () => Promise<unknown>) => eventually(check, { timeout: 15_000, interval: 20 });
const settled = (id: string, expected: object) =>
  until(async () => expect(await deliveryOf(account, id)).toMatchObject({ waiting_events: 0, ...expected }));
const never = () => new Promise<number>(() => {});

test('after a change, events go to the new target at once, even if the old one does not answer, and none is lost', async () => {
  const [old, next] = [await receiver(), await receiver()];
  const id = await newDestination(account, old.url);
  await subscribeTo(account, [id]);
  await change(account, 0);
  await old.until(() => old.taken.length === 1);
  old.answer = never;
  await changeAll(account, 1, 4);
  await old.until(() => old.requests > 1);
  const began = performance.now();
  expect((await account.call('PATCH', `/event_destinations/${id}`, { target: webhookAt(next.url) })).status).toBe(200);
  await changeAll(account, 4, 6);
  await next.until(() => next.taken.length >= 5);
  // The old one would be waited for during 15 s.
  expect(performance.now() - began, 'milliseconds').toBeLessThan(12_000);
  expect(numbers(next.taken)).toEqual([1, 2, 3, 4, 5]);
  expect(next.taken).toHaveLength(5);
  await settled(id, { state: 'ok', delivered_events: 6, attempts: 0, last_error: null });
});

test('a destination with many concurrent changes loses no event, and none goes to an old target afterwards', async () => {
  const all = [await receiver(), await receiver(), await receiver()] as const;
  const id = await newDestination(account, all[0].url);
  await subscribeTo(account, [id]);
  const patch = async (to: Receiver) => {
    const change = { target: webhookAt(to.url) };
    const { status, text } = await account.call('PATCH', `/event_destinations/${id}`, change);
    expect(status, text).toBe(200);
  };
  await Promise.all([...upTo(20).map((n) => patch(all[n % 2 ? 0 : 1])), changeAll(account, 0, 20)]);
  await patch(all[2]);
  await changeAll(account, 20, 25);
  await settled(id, { state: 'ok' });
  expect(numbers(all[2].taken).slice(-5)).toEqual([20, 21, 22, 23, 24]);
  for (const { taken } of all.slice(0, 2)) expect(Math.max(-1, ...numbers(taken))).toBeLessThan(20);
  const everywhere = distinct(all.flatMap(({ taken }) => taken));
  expect(numbers(everywhere).sort((a, b) => a - b)).toEqual(upTo(25));
});

test('a destination can be deleted with its waiting events while a request to it is in progress', async () => {
  const [gone, other] = [await receiver(), await receiver()];
  const logged = gateway.logs.length;
  const [id, witness] = [await newDestination(account, gone.url), await newDestination(account, other.url)];
  const subscriptionId = await subscribeTo(account, [id]);
  await subscribeTo(account, [witness]);
  gone.answer = () => 400;
  await changeAll(account, 0, 3);
  await until(async () => expect(await deliveryOf(account, id)).toMatchObject({ dead_letters: 3 }));
  let answer = (_: number) => {};
  gone.answer = () => new Promise((resolve) => (answer = resolve));
  await changeAll(account, 3, 20);
  await gone.until(() => gone.requests > 3);
  expect(await account.call('DELETE', `/event_destinations/${id}`)).toMatchObject({ status: 409 });
  expect(await account.call('DELETE', `/event_subscriptions/${subscriptionId}`)).toMatchObject({ status: 204 });
  expect(await account.call('DELETE', `/event_destinations/${id}`)).toMatchObject({ status: 204 });
  answer(400);
  await changeAll(account, 20, 22);
  await other.until(() => other.taken.length >= 22);
  await settled(witness, { delivered_events: 22 });
  expect(numbers(other.taken)).toEqual(upTo(22));
  for (const end of ['/delivery', '/dead_letters', ''])
    expect((await account.call('GET', `/event_destinations/${id}${end}`)).status).toBe(404);
  const left = await gateway.app.prisma.$queryRaw`
    SELECT destination_id FROM event_batch WHERE destination_id = ${id}
    UNION ALL SELECT destination_id FROM event_dead_letter WHERE destination_id = ${id}
    UNION ALL SELECT destination_id FROM event_lane WHERE destination_id = ${id}`;
  expect(left).toEqual([]);
  expect(gateway.logs.slice(logged).filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

test('events written before their subscription was deleted still arrive, and none after', async () => {
  const slow = await receiver();
  const id = await newDestination(account, slow.url);
  const subscriptionId = await subscribeTo(account, [id]);
  let answer = (_: number) => {};
  slow.answer = () => new Promise((resolve) => (answer = resolve));
  await changeAll(account, 0, 5);
  await slow.until(() => slow.requests === 1);
  await account.call('DELETE', `/event_subscriptions/${subscriptionId}`);
  await changeAll(account, 5, 8);
  slow.answer = () => 204;
  answer(204);
  await settled(id, { delivered_events: 5 });
  expect(numbers(slow.taken)).toEqual(upTo(5));
});
