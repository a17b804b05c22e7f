// Dead destinations among healthy ones: the healthy are not affected, and the backlog of the dead arrives when they recover.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
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
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';

const MINUTE = 60_000;
/**
 * The longest time from the response to a change until its event has arrived at nine destinations. On a machine with eight times
 * the load that it can take, 1.2 seconds were measured. A delivery that waited for the black hole would take its timeout of 15 s.
 */
const LATENCY_MAX_MS = 12_000;
let gateway: TestGateway;
let account: Account;
/** Minutes that the gateway's clock is ahead. */
let ahead = 0;
beforeAll(async () => {
  const now = () => Date.now() + ahead * MINUTE;
  gateway = await startTestGateway({ EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' }, { now });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

/** Accepts connections and never answers. */
async function startBlackHole(): Promise<{ url: string; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined).resume()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

/** Waits until the API shows that delivery to a destination is as expected. */
const settled = (id: string, expected: object) =>
  eventually(async () => expect(await deliveryOf(account, id)).toMatchObject(expected));

async function receivers(count: number): Promise<Receiver[]> {
  const all = await Promise.all(upTo(count).map(() => startReceiver()));
  onTestFinished(async () => void (await Promise.all(all.map((each) => each.close()))));
  return all;
}

test('nine healthy destinations get each event in time despite four dead ones, and the dead catch up in order', async () => {
  const healthy = await receivers(9);
  const [refusing, failing, forbidding] = await receivers(3);
  const hole = await startBlackHole();
  onTestFinished(() => hole.close());
  await (refusing as Receiver).close();
  (failing as Receiver).answer = () => 500;
  (forbidding as Receiver).answer = () => 401;
  const dead = [refusing, failing, forbidding, hole] as { url: string }[];
  const ids = await Promise.all([...healthy, ...dead].map(({ url }) => newDestination(account, url)));
  const subscriptionId = await subscribeTo(account, ids);
  const late: number[] = [];
  for (const n of upTo(6)) {
    await change(account, n);
    const since = performance.now();
    await Promise.all(healthy.map((each) => each.until(() => each.taken.length > n)));
    late.push(...healthy.map(({ taken }) => (taken[n]?.at ?? 0) - since));
  }
  expect(Math.max(...late), 'milliseconds').toBeLessThan(LATENCY_MAX_MS);
  for (const { taken } of healthy) expect(numbers(taken)).toEqual(upTo(6));
  for (const { taken } of healthy) expect(taken).toHaveLength(6);
  // The failures of the dead may be settled later than the successes of the healthy.
  await settled(ids[9] as string, { state: 'retrying', waiting_events: 6, last_error: { code: 'ECONNREFUSED' } });
  await settled(ids[10] as string, { state: 'retrying', waiting_events: 6 });
  await settled(ids[11] as string, { state: 'failing', waiting_events: 6 });

  const [back, patched] = [await startReceiver((refusing as Receiver).port), ...(await receivers(1))] as const;
  onTestFinished(() => back.close());
  for (const each of [failing, forbidding] as Receiver[]) each.answer = () => 204;
  const hung = ids[12] as string;
  await account.call('PATCH', `/event_destinations/${hung}`, { target: webhookAt((patched as Receiver).url) });
  ahead += 15; // Every retry is due now.
  for (const each of [back, failing, forbidding, patched] as Receiver[]) {
    // The leap in time also ends leases, so requests in progress are sent again.
    await each.until(() => distinct(each.taken).length === 6);
    expect(numbers(distinct(each.taken))).toEqual(upTo(6));
  }
  await account.call('DELETE', `/event_subscriptions/${subscriptionId}`);
});

test('an hour in which a destination is dead costs the others nothing, and its backlog arrives in order', async () => {
  const [dead, ...others] = (await receivers(4)) as [Receiver, ...Receiver[]];
  dead.answer = () => 503;
  const [deadId = '', ...ids] = await Promise.all([dead, ...others].map(({ url }) => newDestination(account, url)));
  await subscribeTo(account, [deadId, ...ids]);
  const late: number[] = [];
  for (const n of upTo(12)) {
    ahead += 5;
    await change(account, n);
    const since = performance.now();
    await Promise.all(others.map((each) => each.until(() => each.taken.length > n)));
    late.push(performance.now() - since);
    for (const id of ids) await settled(id, { delivered_events: n + 1 }); // Leases end when the clock moves.
  }
  expect(Math.max(...late), 'milliseconds').toBeLessThan(LATENCY_MAX_MS);
  for (const { taken, requests } of others) {
    expect(numbers(taken)).toEqual(upTo(12));
    expect([taken.length, requests]).toEqual([12, 12]);
  }
  expect(dead.requests).toBeLessThan(13); // It was tried less and less often.
  await eventually(async () => {
    const stood = await deliveryOf(account, deadId);
    expect(stood).toMatchObject({ state: 'retrying', waiting_events: 12, delivered_events: 0, dropped_events: 0 });
    // Leaps in time end leases: of a request that was under way nobody counts the failure.
    expect(stood.attempts).toBeGreaterThan(0);
    expect(stood.attempts).toBeLessThanOrEqual(dead.requests);
  });
  dead.answer = () => 204;
  ahead += 15;
  await changeAll(account, 12, 13);
  await dead.until(() => distinct(dead.taken).length === 13);
  expect(numbers(dead.taken)).toEqual(upTo(13));
  await settled(deadId, { state: 'ok', attempts: 0, waiting_events: 0, delivered_events: 13 });
});
