// How delivery is going, through GraphQL: watched, in lists, and in the catalogue of types.

import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, countingGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type Subscription, subscribe } from '../support/gateway/sse.ts';
import { shapesOf, statementsOf } from '../support/gateway/statements.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await countingGateway();
  account = await gateway.newAccount();
});

const newDestination = async (): Promise<string> =>
  (await account.call('POST', '/event_destinations', { target: { datadog: { api_key: 'secret' } } })).body.id;

const watch = (id: string): Promise<Subscription> =>
  subscribe(
    gateway.api,
    account.key,
    'subscription ($id: ID!) { eventDeliveryChanged(destinationId: $id) { destinationId droppedEvents } }',
    { id },
  );

/** What a node does that delivers: it writes, and tells of it. */
const change = (id: string, dropped: number) =>
  gateway.app.changes.transaction(gateway.app.prisma, async (tx, announce) => {
    await tx.eventLane.update({ where: { destinationId: id }, data: { dropped } });
    announce({ kind: 'eventDelivery', action: 'UPDATED', id, accountId: account.accountId });
  });

test('a subscription tells how it is at once, then what changed, and ends with the destination', async () => {
  const id = await newDestination();
  const stream = await watch(id);
  const told = (droppedEvents: number) => ({ data: { eventDeliveryChanged: { destinationId: id, droppedEvents } } });
  expect(await stream.next()).toEqual(told(0));
  await change(await newDestination(), 5);
  await change(id, 1);
  expect(await stream.next()).toEqual(told(1));
  expect(await account.call('DELETE', `/event_destinations/${id}`)).toMatchObject({ status: 204 });
  expect(await stream.next()).toBeNull();
});

test('many changes in short order are told as few, the last of them for certain', async () => {
  const id = await newDestination();
  const stream = await watch(id);
  await stream.next();
  const began = performance.now();
  for (let dropped = 1; dropped <= 50; dropped++) await change(id, dropped);
  const took = performance.now() - began;
  const told: number[] = [];
  while (told.at(-1) !== 50) told.push((await stream.next()).data.eventDeliveryChanged.droppedEvents);
  expect(told.length).toBeLessThanOrEqual(took / 500 + 2);
  stream.close();
});

test('a list of 100 destinations with their delivery takes no more statements than one of 1', async () => {
  const { accountId } = account;
  await gateway.app.prisma.eventDestination.createMany({
    data: Array.from({ length: 100 }, () => ({ id: newId('ed'), accountId, format: 'json', target: { file: {} } })),
  });
  await gateway.app.prisma.$executeRaw`
    INSERT INTO event_lane (destination_id, account_id)
    SELECT id, account_id FROM event_destination ON CONFLICT DO NOTHING`;
  const query = `query ($first: Int) {
    eventDestinations(first: $first) { nodes { id delivery { state waitingEvents } } edges { node { delivery { deadLetters } } } }
  }`;
  /** The statements of the second time, which is compiled. */
  const statementsFor = async (first: number) => {
    const ask = async () => {
      const { body } = await account.graphql(query, { first });
      expect(body.data.eventDestinations.nodes).toHaveLength(first);
    };
    await ask();
    return shapesOf(await statementsOf(ask));
  };
  const one = await statementsFor(1);
  expect(one.length).toBeGreaterThan(1);
  expect(one.length).toBeLessThan(20);
  expect(await statementsFor(100)).toEqual(one);
});

test('every type of traffic event says what its object has; audit events do not', async () => {
  const { body } = await account.graphql('{ eventTypes { name class fields { name type description } } }');
  for (const { name, class: kind, fields } of body.data.eventTypes) {
    if (kind === 'AUDIT') expect(fields, name).toEqual([]);
    else {
      expect(fields.map((field: { name: string }) => field.name)).toContain('conn.client_ip');
      expect(fields.filter(({ description }: { description: string }) => !/[.;].*\.$|\.$/.test(description))).toEqual(
        [],
      );
    }
  }
});
