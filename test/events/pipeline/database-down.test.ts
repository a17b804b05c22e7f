// The database goes away while events are on their way, and comes back.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeAll, deliveryOf, newDestination, subscribeTo, upTo } from '../../support/events/pipeline-account.ts';
import { type Installation, newInstallation } from '../../support/events/pipeline-gateways.ts';
import { distinct, numbers, type Receiver, startReceiver } from '../../support/events/pipeline-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { onServer, type TestGateway } from '../../support/gateway/gateway.ts';
import { onMaintenance } from '../../support/gateway/place.ts';

describe.runIf(onServer)('while the database is away', () => {
  let installation: Installation;
  let gateway: TestGateway;
  let receiver: Receiver;
  let id: string;
  let database: string;
  beforeAll(async () => {
    installation = await newInstallation();
    gateway = await installation.start();
    receiver = await startReceiver();
    id = await newDestination(gateway, receiver.url);
    await subscribeTo(gateway, [id]);
    database = new URL(installation.place.env.DATABASE_URL ?? '').pathname.slice(1);
  });
  afterAll(async () => {
    await installation.close();
    await receiver.close();
  });

  const cut = () =>
    onMaintenance(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`);
  const allow = (isAllowed: boolean) => onMaintenance(`ALTER DATABASE "${database}" ALLOW_CONNECTIONS ${isAllowed}`);
  const settled = (expected: object) =>
    eventually(async () => expect(await deliveryOf(gateway, id)).toMatchObject(expected), {
      timeout: 15_000,
      interval: 50,
    });
  const told = () => gateway.logs.map((line) => JSON.parse(line)).filter(({ msg }) => /^events cannot/.test(msg));

  test('sent events that could not be settled are sent again under the same ids, before all others', async () => {
    await changeAll(gateway, 0, 3);
    await settled({ delivered_events: 3, waiting_events: 0 });
    let answer = (_: number) => {};
    receiver.answer = () => new Promise((resolve) => (answer = resolve));
    const before = receiver.requests;
    await changeAll(gateway, 3, 10);
    await receiver.until(() => receiver.requests > before);
    await allow(false);
    await cut();
    receiver.answer = () => 204;
    answer(204);
    await receiver.until(() => receiver.taken.length > 3);
    await gateway.logged(({ msg }) => /^events cannot be read/.test(String(msg)));
    await allow(true);
    await receiver.until(() => distinct(receiver.taken).length === 10);
    await settled({ delivered_events: 10, waiting_events: 0, state: 'ok' });
    expect(numbers(receiver.taken)).toEqual(upTo(10));
    expect(told().length).toBeLessThanOrEqual(2);
    expect(gateway.fatal).toEqual([]);
  });

  test('connections that break again and again lose no event, and are logged rarely', async () => {
    const before = told().length;
    let made = 10;
    for (let round = 0; round < 4; round++) {
      await eventually(() => changeAll(gateway, made, made + 1).then(() => made++), { timeout: 10_000, interval: 20 });
      await cut();
    }
    await eventually(() => changeAll(gateway, made, made + 1).then(() => made++), { timeout: 10_000, interval: 20 });
    await settled({ waiting_events: 0, state: 'ok' });
    const order = numbers(receiver.taken);
    expect(order.filter((n) => n < made)).toEqual([...order].sort((a, b) => a - b));
    expect(new Set(order)).toEqual(new Set(upTo(made)));
    expect(told().length - before).toBeLessThanOrEqual(8);
  });
});
