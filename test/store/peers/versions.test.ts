// Whether what a bus has lost is found, and nothing else is.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { ChangeVersions } from '../../../src/store/changes/change-versions.ts';
import { type Store, sharedStore } from '../edges/edge-database.ts';

let store: Store;
let losses: number;
let versions: ChangeVersions;
beforeAll(async () => {
  store = await sharedStore();
});
beforeEach(async () => {
  losses = 0;
  const onFailure = (error: unknown) => {
    throw error;
  };
  versions = new ChangeVersions({ prisma: store.prisma, onLoss: () => void losses++, onFailure });
  await versions.poll();
});

/** A write of any process. @returns its version. */
const write = () => store.prisma.$transaction((tx) => versions.next(tx));

test('nothing is lost when every version is heard, in whatever order', async () => {
  const [first, second, third] = [await write(), await write(), await write()];
  for (const version of [third, first, second]) versions.hear(version);
  await versions.poll();
  await versions.poll();
  expect(losses).toBe(0);
});

test('a version that is heard just after it was seen is no loss', async () => {
  const version = await write();
  const polled = versions.poll();
  await write().then(versions.hear.bind(versions));
  versions.hear(version);
  await polled;
  await versions.poll();
  expect(losses).toBe(0);
});

test('a version that is not heard is a loss, and once more at the next poll, as its write may not have been committed', async () => {
  versions.hear(await write());
  await write();
  versions.hear(await write());
  const counts: number[] = [];
  for (let poll = 0; poll < 3; poll++) {
    await versions.poll();
    counts.push(losses);
  }
  expect(counts).toEqual([1, 2, 2]);
});

test('a version that is heard late is a loss once', async () => {
  const version = await write();
  await versions.poll();
  versions.hear(version);
  await versions.poll();
  expect(losses).toBe(1);
});

test('a sequence that has gone back, as in a restored database, is a loss', async () => {
  for (let count = 0; count < 3; count++) versions.hear(await write());
  await versions.poll();
  expect(losses).toBe(0);
  await store.prisma.$queryRaw`SELECT setval('change_version', 1)`;
  await versions.poll();
  expect(losses).toBe(1);
});

test('more versions than are remembered are a loss', async () => {
  const version = await write();
  for (let count = 1; count <= 10_001; count++) versions.hear(version + count);
  versions.hear(version);
  await versions.poll();
  expect(losses).toBe(1);
});
