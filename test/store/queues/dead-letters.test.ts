// Dead letters: delivered again or thrown away, when somebody asks for it.

import { beforeEach, expect, test } from 'vitest';
import { unpackEvents } from '../../../src/events/batch.ts';
import { readWritten } from '../../../src/events/event.ts';
import {
  type DeadLetterSelection,
  discardDeadLetters,
  retryDeadLetters,
} from '../../../src/store/events/dead-letters.ts';
import { idOf, idsOf, type QueueDatabase, queueDatabase, written } from './queue-database.ts';

let db: QueueDatabase;
beforeEach(async () => {
  db = await queueDatabase();
});

const reason = { code: 'HTTP 400', message: 'no' };

/** Has a destination refuse events. */
async function bury(destinationId: string, texts: readonly string[]): Promise<string[]> {
  await db.store(destinationId, texts);
  const queue = (await db.queues.claim(1000)) ?? expect.fail('no queue is due');
  const [batch] = await db.queues.read(queue, { batches: 1, bytes: 1 });
  const dead = texts.map((text) => ({ event: readWritten(text), ...reason }));
  await db.queues.settle(
    queue,
    { done: [batch?.id ?? ''], shortened: [], dead, delivered: 0 },
    { kind: 'release' },
    1000,
  );
  db.told.length = 0;
  return (await db.letters(destinationId)).map(({ id }) => id);
}

const run = (work: typeof retryDeadLetters, selection: DeadLetterSelection) =>
  db.changes.transaction(db.prisma, (tx, announce) => work(tx, announce, selection));

async function waiting(destinationId: string): Promise<string[]> {
  const batches = await db.batches(destinationId);
  return (await Promise.all(batches.map(({ body }) => unpackEvents(body)))).flatMap((events) => idsOf(events));
}

test('retried dead letters wait behind the other events, in their order', async () => {
  const id = await db.destination();
  const other = await db.destination();
  await bury(other, written(1));
  const refused = written(1203);
  await bury(id, refused);
  const later = written(2);
  await db.store(id, later);
  expect(await run(retryDeadLetters, { destinationId: id })).toBe(1203);
  expect(await waiting(id)).toEqual([...later, ...refused].map(idOf));
  expect(await db.letters(id)).toEqual([]);
  expect(await db.letters(other)).toHaveLength(1);
  expect(db.told).toEqual([{ kind: 'eventDelivery', action: 'CREATED', id, accountId: db.accountId }]);
});

test('only the named dead letters of the destination are retried or discarded', async () => {
  const [id, other] = [await db.destination(), await db.destination()];
  const refused = written(4);
  const letters = await bury(id, refused);
  const foreign = await bury(other, written(1));
  const ids = [letters[2], letters[1], ...foreign].map(String);
  expect(await run(retryDeadLetters, { destinationId: id, ids })).toBe(2);
  expect(await waiting(id)).toEqual(refused.slice(1, 3).map(idOf));
  expect(await run(discardDeadLetters, { destinationId: id, ids: [letters[0] as string, ...foreign] })).toBe(1);
  expect((await db.letters(id)).map((letter) => letter.id)).toEqual([letters[3]]);
  expect(await db.letters(other)).toHaveLength(1);
  expect(await run(discardDeadLetters, { destinationId: id })).toBe(1);
  expect(await run(discardDeadLetters, { destinationId: id })).toBe(0);
  expect(await run(retryDeadLetters, { destinationId: id, ids: [] })).toBe(0);
});

test('retried dead letters keep their class', async () => {
  const id = await db.destination();
  await bury(id, written(2, 'http_request_complete.v0'));
  await run(retryDeadLetters, { destinationId: id });
  expect(await db.batches(id)).toMatchObject([{ isTraffic: true, count: 2 }]);
});

test('a failed retry changes nothing and announces nothing', async () => {
  const id = await db.destination();
  await bury(id, written(3));
  const failing = db.changes.transaction(db.prisma, async (tx, announce) => {
    await retryDeadLetters(tx, announce, { destinationId: id });
    throw new Error('given up');
  });
  await expect(failing).rejects.toThrow('given up');
  expect(await db.letters(id)).toHaveLength(3);
  expect(await db.batches(id)).toEqual([]);
  expect(db.told).toEqual([]);
});
