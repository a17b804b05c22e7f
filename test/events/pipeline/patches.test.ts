// Destinations that hear of each other's changes, all changed at once.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliveryOf, newDestination, subscribeTo, upTo, webhookAt } from '../../support/events/pipeline-account.ts';
import { distinct, type Receiver, startReceiver } from '../../support/events/pipeline-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
let receiver: Receiver;
beforeAll(async () => {
  gateway = await sharedGateway({ EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' });
  account = await gateway.newAccount();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
});

test('concurrent changes are all made, and both subscribers get all of them', async () => {
  const ids = [await newDestination(account, receiver.url), await newDestination(account, receiver.url)];
  await subscribeTo(account, ids, ['event_destination_updated.v0']);
  const change = { target: webhookAt(receiver.url) };
  const patch = (n: number) => account.call('PATCH', `/event_destinations/${ids[n % 2]}`, change);
  const answers = await Promise.all(upTo(20).map(patch));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  for (const id of ids)
    await eventually(async () => expect(await deliveryOf(account, id)).toMatchObject({ waiting_events: 0 }), {
      timeout: 10_000,
    });
  expect(distinct(receiver.taken)).toHaveLength(20);
});
