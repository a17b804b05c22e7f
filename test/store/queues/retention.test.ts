// What is dropped because it has waited for too long, or because too much waits: every event of it is counted.

import { beforeEach, expect, test } from 'vitest';
import { sweepEvents } from '../../../src/store/events/retention.ts';
import { type QueueDatabase, queueDatabase, written } from './queue-database.ts';

const HOUR = 3_600_000;
const SETTINGS = { trafficMaxAge: 24 * HOUR, auditMaxAge: 72 * HOUR, eventBacklogBytes: 1_000_000 };
const NOTHING = { trafficTooOld: 0, auditTooOld: 0, trafficOverCap: 0, auditOverCap: 0, deadLetters: 0 };
let db: QueueDatabase;
beforeEach(async () => {
  db = await queueDatabase();
});

const sweep = (more: Partial<typeof SETTINGS> = {}) => sweepEvents(db.parts, { ...SETTINGS, ...more });
const traffic = { isTraffic: true };

test('events wait as long as their class may', async () => {
  const [id, other] = [await db.destination(), await db.destination()];
  await db.store(id, written(2), traffic);
  await db.store(id, written(3));
  await db.store(other, written(4), traffic);
  expect(await sweep()).toEqual(NOTHING);
  expect(db.told).toEqual([]);
  db.clock.ms = 24 * HOUR + 60_000;
  await db.store(id, written(5), { ...traffic, createdAt: new Date(Date.now() + db.clock.ms) });
  expect(await sweep()).toEqual({ ...NOTHING, trafficTooOld: 6 });
  expect(new Set(db.told.map((change) => change.id))).toEqual(new Set([id, other]));
  expect((await db.batches(id)).map(({ count }) => count)).toEqual([3, 5]);
  db.clock.ms = 72 * HOUR + 60_000;
  expect(await sweep()).toEqual({ ...NOTHING, trafficTooOld: 5, auditTooOld: 3 });
  expect((await db.queue(id)).dropped).toBe(10n);
  expect((await db.queue(other)).dropped).toBe(4n);
});

test('above the backlog limit, the oldest traffic events are dropped first, and then the oldest audit events', async () => {
  const [id, other] = [await db.destination(), await db.destination()];
  for (const isTraffic of [false, true, false, true, true]) await db.store(id, written(2), { isTraffic });
  await db.store(other, written(2), traffic);
  const [{ bytes } = { bytes: 0 }] = await db.batches(id);
  const cap = (batches: number) => sweep({ eventBacklogBytes: batches * bytes + 10 });
  const all = (await db.batches(id)).map((batch) => batch.id);
  const left = async () => (await db.batches(id)).map((batch) => all.indexOf(batch.id));

  expect(await cap(5)).toEqual(NOTHING);
  expect(await cap(4)).toEqual({ ...NOTHING, trafficOverCap: 2 });
  expect(await left()).toEqual([0, 2, 3, 4]);
  expect(await cap(3)).toEqual({ ...NOTHING, trafficOverCap: 2 });
  expect(await left()).toEqual([0, 2, 4]);
  expect(await cap(1)).toEqual({ ...NOTHING, trafficOverCap: 2, auditOverCap: 2 });
  expect(await left()).toEqual([2]);
  expect((await db.queue(id)).dropped).toBe(8n);
  expect((await db.queue(other)).dropped).toBe(0n);
});

test('events that may be on their way are not dropped', async () => {
  const id = await db.destination();
  for (let i = 0; i < 70; i++) await db.store(id, written(1), traffic);
  const queue = await db.queues.claim(60_000);
  expect(queue?.destinationId).toBe(id);
  const before = (await db.batches(id)).map((batch) => batch.id);
  expect(await sweep({ eventBacklogBytes: 1 })).toEqual({ ...NOTHING, trafficOverCap: 6 });
  expect((await db.batches(id)).map((batch) => batch.id)).toEqual(before.slice(0, 64));
  db.clock.ms = 61_000;
  expect(await sweep({ eventBacklogBytes: 1 })).toEqual({ ...NOTHING, trafficOverCap: 64 });
});

test('dead letters are kept for 14 days, and the newest 10,000', async () => {
  const [id, other] = [await db.destination(), await db.destination()];
  const bury = (destinationId: string, count: number) => db.prisma.$executeRaw`
    INSERT INTO event_dead_letter
      (id, account_id, destination_id, event_id, event_type, event, error_code, error_message)
    SELECT 'edl_' || lpad(n::text, 27, '0'), ${db.accountId}, ${destinationId}, 'ev', 't', '{}', 'c', 'm'
    FROM generate_series(${destinationId === id ? 1 : 20_001}::int, ${destinationId === id ? count : 20_000 + count}::int) n`;
  await bury(id, 10_003);
  await bury(other, 2);
  expect(await sweep()).toEqual({ ...NOTHING, deadLetters: 3 });
  const [oldest] = await db.letters(id);
  expect(oldest?.id).toBe(`edl_${'4'.padStart(27, '0')}`);
  expect((await db.queue(id)).dropped).toBe(3n);
  db.clock.ms = 14 * 24 * HOUR + 60_000;
  expect(await sweep()).toEqual({ ...NOTHING, deadLetters: 10_002 });
  expect((await db.queue(other)).dropped).toBe(2n);
});
