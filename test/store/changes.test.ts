import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Change, Changes } from '../../src/store/changes/changes.ts';
import { type Store, sharedStore } from './edges/edge-database.ts';

let store: Store;
beforeAll(async () => {
  store = await sharedStore();
});

const change: Change = { kind: 'httpsEdge', action: 'UPDATED', id: 'edghts_1', accountId: 'ac_1' };
const write = (changes: Changes, ...announced: Change[]) =>
  changes.transaction(store.prisma, async (_, announce) => {
    for (const one of announced) announce(one);
    return 'written';
  });

test('a write is not acknowledged before its followers are done', async () => {
  const changes = new Changes();
  const order: string[] = [];
  let finish = () => {};
  changes.follow(async (changed) => {
    order.push(`begun ${changed.map(({ id }) => id)}`);
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    order.push('done');
  });
  const acknowledged = write(changes, change, { ...change, id: 'edghts_2' }).then(() => order.push('acknowledged'));
  await expect.poll(() => order).toEqual(['begun edghts_1,edghts_2']);
  await store.prisma.$queryRaw`SELECT 1`; // The database is free meanwhile.
  expect(order).toHaveLength(1);
  finish();
  await acknowledged;
  expect(order).toEqual(['begun edghts_1,edghts_2', 'done', 'acknowledged']);
});

test('a follower sees committed data', async () => {
  const changes = new Changes();
  const seen: unknown[] = [];
  changes.follow(async () => void seen.push(await store.prisma.setting.findUnique({ where: { name: 'seen' } })));
  await changes.transaction(store.prisma, async (tx, announce) => {
    announce(change);
    await tx.setting.create({ data: { name: 'seen', value: 'x' } });
  });
  expect(seen).toEqual([{ name: 'seen', value: 'x' }]);
});

test('a follower is not called for rolled back or empty writes, nor after it was removed', async () => {
  const changes = new Changes();
  let calls = 0;
  const stop = changes.follow(async () => void calls++);
  const failing = changes.transaction(store.prisma, async (_, announce) => {
    announce(change);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await write(changes);
  expect(calls).toBe(0);
  await write(changes, change);
  stop();
  await write(changes, change);
  expect(calls).toBe(1);
});

test('a write waits for followers 5 seconds at most, and a follower that fails does not fail it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const changes = new Changes();
  let isAsked = false;
  changes.follow(() => {
    throw new Error('a bug');
  });
  changes.follow(() => {
    isAsked = true;
    return new Promise(() => {});
  });
  let isAcknowledged = false;
  const acknowledged = write(changes, change).then((value) => {
    isAcknowledged = true;
    return value;
  });
  while (!isAsked) await new Promise(setImmediate);
  vi.advanceTimersByTime(4999);
  await new Promise(setImmediate);
  expect(isAcknowledged).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await acknowledged).toBe('written');
});

test('a listener that throws is reported as a defect: the write is acknowledged, and other listeners are called', async () => {
  const defects: unknown[] = [];
  const changes = new Changes((error) => defects.push(error));
  const heard: unknown[] = [];
  const mistake = new Error('a bug');
  const fail = () => {
    throw mistake;
  };
  changes.listen(fail);
  changes.listen((each) => heard.push(each));
  expect(await write(changes, change)).toBe('written');
  expect([heard, defects]).toEqual([[change], [mistake]]);
  changes.onGap(fail);
  changes.onGap(() => heard.push('gap'));
  changes.reportGap();
  expect([heard, defects]).toEqual([
    [change, 'gap'],
    [mistake, mistake],
  ]);
});

test('followers are also called for changes of other processes', async () => {
  const changes = new Changes();
  const seen: Change[][] = [];
  changes.follow(async (changed) => void seen.push(changed));
  void changes.publish([change]);
  expect(seen).toEqual([[change]]);
});
