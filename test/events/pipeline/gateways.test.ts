// Gateways that share the work, and one that goes on where another stopped.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  change,
  changeAll,
  changeAtOnce,
  deliveryOf,
  newDestination,
  subscribeTo,
  upTo,
} from '../../support/events/pipeline-account.ts';
import { type Installation, newInstallation } from '../../support/events/pipeline-gateways.ts';
import { distinct, numbers, type Receiver, startReceiver } from '../../support/events/pipeline-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { onServer } from '../../support/gateway/gateway.ts';
import { shortened } from '../../support/shortened.ts';

let installation: Installation;
let receiver: Receiver;
beforeEach(async () => {
  installation = await newInstallation();
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await installation.close();
});
const until = (check: () => Promise<unknown>) => eventually(check, { timeout: 15_000, interval: 20 });

/** How many events wait. */
const WAITING = shortened([200, 1000]).at(-1) ?? 0;
// Each start takes longer than what is tested.
const STARTS = { timeout: 60_000 };

test(
  'events that wait when a gateway stops arrive after the next start; what is answered meanwhile counts',
  STARTS,
  async () => {
    const first = await installation.start();
    const id = await newDestination(first, receiver.url);
    await subscribeTo(first, [id], ['ip_policy_created.v0', 'ip_policy_rule_deleted.v0']);
    // One request is answered while the gateway stops, and another one, of the same gateway, never.
    let answer = (_: number) => {};
    receiver.answer = () => new Promise((resolve) => (answer = resolve));
    await change(first, 0);
    await receiver.until(() => receiver.requests === 1);
    const silent = await startReceiver();
    silent.answer = () => new Promise(() => {});
    const silentId = await newDestination(first, silent.url);
    await subscribeTo(first, [silentId]);
    await changeAtOnce(first, first, WAITING);
    await change(first, 1);
    await silent.until(() => silent.requests === 1);
    const closed = first.close();
    answer(204);
    await closed;
    expect(numbers(receiver.taken)).toEqual([0]);
    expect(silent.taken).toEqual([]);

    for (const each of [receiver, silent]) each.answer = () => 204;
    const second = await installation.start();
    await receiver.until(() => distinct(receiver.taken).length >= WAITING + 3);
    await silent.until(() => silent.taken.length >= 2);
    const kept = { state: 'ok', waiting_events: 0, waiting_bytes: 0, attempts: 0, last_error: null, dropped_events: 0 };
    const stands = async (which: string, delivered: number) =>
      until(async () =>
        expect(await deliveryOf(second, which)).toMatchObject({ ...kept, delivered_events: delivered }),
      );
    await stands(id, WAITING + 3);
    await stands(silentId, 2);
    const [one, , ...more] = numbers(receiver.taken); // The second is the policy that the rules were of.
    expect([one, more]).toEqual([0, [...upTo(WAITING), 1]]);
    expect(receiver.taken, 'none twice').toHaveLength(WAITING + 3);
    expect(silent.taken).toHaveLength(2);
    await silent.close();
  },
);

describe.runIf(onServer)('two gateways on one database', () => {
  test(
    'keep the order of what both write, and one goes on when the other stops in the middle of a request',
    STARTS,
    async () => {
      const [first, second] = [await installation.start(), await installation.start('second')];
      const id = await newDestination(first, receiver.url);
      await subscribeTo(first, [id]);
      const key = { key: first.key };
      const elsewhere = { call: ((m, p, b) => second.call(m, p, b, key)) as typeof second.call };
      const both = [first, elsewhere];
      for (const n of upTo(60)) await change(both[n % 2] as typeof first, n);
      await receiver.until(() => distinct(receiver.taken).length === 60);
      expect(numbers(receiver.taken)).toEqual(upTo(60));
      expect(receiver.taken, 'none twice').toHaveLength(60);

      // The one that is asked in vain is stopped; the other goes on.
      receiver.answer = () => new Promise(() => {});
      const [requests] = [receiver.requests];
      await change(first, 60);
      await receiver.until(() => receiver.requests > requests);
      const { leaseToken } = await first.app.prisma.eventLane.findUniqueOrThrow({ where: { destinationId: id } });
      const firstNode = (await readFile(join(installation.place.dataDir, 'node'), 'utf8')).trim();
      const isFirst = leaseToken?.startsWith(firstNode);
      const stays = isFirst ? elsewhere : first;
      const closed = (isFirst ? first : second).close();
      await changeAll(stays, 61, 70);
      receiver.answer = () => 204;
      await closed;
      await receiver.until(() => distinct(receiver.taken).length === 70);
      expect(numbers(receiver.taken)).toEqual(upTo(70));
      expect(receiver.taken, 'none twice').toHaveLength(70);
      await until(async () =>
        expect(await deliveryOf(stays, id)).toMatchObject({ delivered_events: 70, waiting_events: 0, state: 'ok' }),
      );
    },
  );
});
