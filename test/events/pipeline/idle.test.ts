// What destinations cost that have nothing to do. Other parts of a gateway ask the database at intervals of their own.

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import { deliveryOf, newDestination, subscribeTo } from '../../support/events/pipeline-account.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';

const SECONDS = 3;
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' }, { counting: true });
});
afterAll(() => gateway.close());

test('for 100 destinations that have nothing to do, the database is asked twice a second at most', async () => {
  const { app, accountId, statements } = gateway;
  const first = await newDestination(gateway, 'http://127.0.0.1:1/');
  const { target } = await app.prisma.eventDestination.findUniqueOrThrow({ where: { id: first } });
  const rows = Array.from({ length: 99 }, () => ({ id: newId('ed'), accountId, format: 'json', target: target ?? {} }));
  await app.prisma.eventDestination.createMany({ data: rows });
  const ids = rows.map(({ id }) => id);
  await app.prisma.eventLane.createMany({ data: ids.map((destinationId) => ({ destinationId, accountId })) });
  await subscribeTo(gateway, [first, ...ids.slice(0, 9)]);
  expect(await deliveryOf(gateway, first)).toMatchObject({ state: 'ok', waiting_events: 0 });
  statements.length = 0;
  await pause(SECONDS * 1000); // It is the rate that is asked for.
  const asked = () => statements.filter((text) => /\bevent_(batch|dead_letter|destination|lane)\b/.test(text));
  expect(asked().length, [...new Set(asked())].join('\n')).toBeLessThanOrEqual(2 * SECONDS + 1);
  await expect.poll(() => asked().length).toBeGreaterThan(0);
});
