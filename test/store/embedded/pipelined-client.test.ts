// Transactions: their BEGIN travels with their first statement.

import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { openClient } from '../../../src/store/database/client.ts';
import { DatabaseWorker } from '../../../src/store/embedded/database-worker.ts';
import { type Embedded, openEmbedded } from '../../../src/store/embedded/index.ts';
import { copyCluster } from '../../support/gateway/place.ts';

let database: Embedded;
let prisma: ReturnType<typeof openClient>;
beforeAll(async () => {
  const directory = await mkdtemp(join(inject('run'), 'directory-'));
  await copyCluster('empty', directory);
  database = await openEmbedded(directory, { onFatal: (text) => expect.unreachable(text) });
  prisma = openClient(database.pool);
  await database.pool.query('CREATE TABLE written (value int)');
});
afterAll(async () => {
  await prisma.$disconnect();
  await database.close();
});

const values = async () =>
  (await database.pool.query('SELECT value FROM written ORDER BY 1')).rows.map(({ value }) => value);

/** How often this database is called while something is done: others of the process are called, too. */
async function roundTrips(work: () => Promise<unknown>): Promise<number> {
  const { execute } = DatabaseWorker.prototype;
  let own: DatabaseWorker | undefined;
  let count = 0;
  const spy = vi.spyOn(DatabaseWorker.prototype, 'execute').mockImplementation(function (
    this: DatabaseWorker,
    bytes,
    last,
  ) {
    if (Buffer.from(bytes).includes("SELECT 'this one'")) own = this;
    else if (this === own) count++;
    return execute.call(this, bytes, last);
  });
  onTestFinished(() => spy.mockRestore());
  await database.pool.query("SELECT 'this one'");
  await work();
  spy.mockRestore();
  return count;
}

test('a transaction of one statement takes two round trips, and an empty one takes one', async () => {
  expect(await roundTrips(() => prisma.$transaction((tx) => tx.$executeRaw`INSERT INTO written VALUES (1)`))).toBe(2);
  expect(await values()).toEqual([1]);
  expect(await roundTrips(() => prisma.$transaction(async () => {}))).toBe(1);
});

test('what fails leaves nothing of its transaction, and the connection to the next one', async () => {
  const failing = prisma.$transaction(async (tx) => {
    await tx.$executeRaw`INSERT INTO written VALUES (2)`;
    await tx.$executeRaw`INSERT INTO written VALUES (1 / 0)`;
  });
  await expect(failing).rejects.toThrow('division by zero');
  const first = prisma.$transaction((tx) => tx.$executeRaw`INSERT INTO written VALUES (1 / 0)`);
  await expect(first).rejects.toThrow('division by zero');
  await expect(prisma.$transaction(() => Promise.reject(new Error('changed its mind')))).rejects.toThrow('its mind');
  expect(await values()).toEqual([1]);
});

test('statements that are asked for at once are in one transaction, in their order', async () => {
  await prisma.$transaction((tx) =>
    Promise.all([3, 4, 5].map((value) => tx.$executeRaw`INSERT INTO written VALUES (${value})`)),
  );
  expect(await values()).toEqual([1, 3, 4, 5]);
});
