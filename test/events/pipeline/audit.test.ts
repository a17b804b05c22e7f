// Many writers, and subscriptions that overlap.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliveryOf, newDestination, subscribeTo, upTo } from '../../support/events/pipeline-account.ts';
import { distinct, type Receiver, startReceiver, type Taken } from '../../support/events/pipeline-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { shortened } from '../../support/shortened.ts';

const WRITERS = shortened([10, 30]).at(-1) ?? 0;
let gateway: TestGateway;
let account: Account;
let receivers: Receiver[];
beforeAll(async () => {
  gateway = await sharedGateway({ EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' });
  account = await gateway.newAccount();
  receivers = [await startReceiver(), await startReceiver()];
});
afterAll(async () => {
  for (const receiver of receivers) await receiver.close();
});

test(`${WRITERS} writers at once: every event comes once to each destination, with one id, and each object’s in order`, async () => {
  const ids = await Promise.all(receivers.map(({ url }) => newDestination(account, url)));
  const [created, updated, deleted] = ['created', 'updated', 'deleted'].map((action) => `ip_policy_${action}.v0`);
  await subscribeTo(account, ids, [created, updated] as string[]);
  await subscribeTo(account, ids, [updated, deleted] as string[]);
  await subscribeTo(account, [...ids].reverse(), [created, deleted] as string[]);
  /** Asks again when it has waited for the others too long: nothing was done then. */
  const done: Account['call'] = async (...request) => {
    const answer = await account.call(...request);
    return answer.status === 503 ? done(...request) : answer;
  };
  const write = async (n: number) => {
    const { body } = await done('POST', '/ip_policies', { description: String(n) });
    const path = `/ip_policies/${body.id}`;
    expect((await done('PATCH', path, { metadata: 'changed' })).status).toBe(200);
    expect((await done('DELETE', path)).status).toBe(204);
    expect((await done('DELETE', path)).status).toBe(404);
    return body.id as string;
  };
  const written = await Promise.all(upTo(WRITERS).map(write));
  for (const [n, receiver] of receivers.entries()) {
    await receiver.until(() => receiver.taken.length >= 3 * WRITERS);
    await eventually(async () =>
      expect(await deliveryOf(account, ids[n] as string)).toMatchObject({ delivered_events: 3 * WRITERS, state: 'ok' }),
    );
    expect(receiver.taken).toHaveLength(3 * WRITERS);
    expect(distinct(receiver.taken)).toHaveLength(3 * WRITERS);
    for (const id of written)
      expect(receiver.taken.filter(({ object }) => object.id === id).map(({ event_type }) => event_type)).toEqual([
        created,
        updated,
        deleted,
      ]);
  }
  const [first, second] = receivers.map(({ taken }) => taken.map(({ at, ...event }) => event).sort(byId));
  expect(second).toEqual(first);
});

type Told = Omit<Taken, 'at'>;
const byId = (a: Told, b: Told) => (a.event_id < b.event_id ? -1 : 1);
