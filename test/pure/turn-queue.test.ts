import { expect, test } from 'vitest';
import { AdmissionWindows, type SlotOutcome } from '../../src/tunnel/connections/admission-windows.ts';
import { FairQueue } from '../../src/tunnel/connections/fair-queue.ts';

const all = (queue: FairQueue<string>) => Array.from({ length: queue.size }, () => queue.next());

test('within a group it is first come, first served; the groups are served one after the other', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2']) queue.add(item.charAt(0), item);
  expect(queue.sizeOf('a')).toBe(4);
  expect(all(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  expect(queue.next()).toBeUndefined();
});

test('who comes alone waits for one of each other group at most, however many they are', () => {
  const queue = new FairQueue<string>();
  for (let i = 0; i < 5000; i++) queue.add(`many ${i % 2}`, `item ${i}`);
  queue.add('one', 'alone');
  expect(all(queue).slice(0, 3)).toContain('alone');
});

test('who leaves is not waited for', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'b1']) queue.add(item.charAt(0), item);
  expect(queue.remove('a', 'a1')).toBe(true);
  expect(queue.remove('a', 'a1')).toBe(false);
  expect(queue.remove('b', 'b1')).toBe(true);
  expect([queue.size, queue.sizeOf('b')]).toEqual([1, 0]);
  expect(all(queue)).toEqual(['a2']);
});

test('a group that may have no turn now keeps its place, and holds up nobody', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'b1', 'a2']) queue.add(item.charAt(0), item);
  expect(queue.next((group) => group !== 'a')).toBe('b1');
  expect(queue.next((group) => group !== 'a')).toBeUndefined();
  expect(all(queue)).toEqual(['a1', 'a2']);
});

test('an address has as many turns at once as get on: more for each that is used, half for a lot that is not', () => {
  const windows = new AdmissionWindows();
  const keep = windows.acquire('a'); // What has no turn any more is forgotten.
  const open: ((end: SlotOutcome) => void)[] = [];
  const size = () => {
    while (windows.hasRoom('a')) open.push(windows.acquire('a'));
    return windows.open;
  };
  const end = (how: SlotOutcome, count = open.length) => {
    for (const giveBack of open.splice(0, count)) giveBack(how);
  };
  expect(size()).toBe(32);
  end('closed');
  expect(size()).toBe(32);
  end('used');
  expect(size()).toBe(63);
  end('unused');
  expect(size()).toBe(31);
  for (let round = 0; round < 5; round++) {
    end('unused');
    size();
  }
  expect(windows.open).toBe(8);
  for (let round = 0; round < 10; round++) {
    end('used');
    size();
  }
  expect(windows.open).toBe(256);
  expect(windows.hasRoom('b')).toBe(true);
  end('closed');
  keep('closed');
  expect(size()).toBe(32);
});
