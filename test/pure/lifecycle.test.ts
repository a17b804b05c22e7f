import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Lifecycle } from '../../src/gateway/lifecycle.ts';

let steps: string[];
let lines: Record<string, unknown>[];
let parts: Lifecycle;
beforeEach(() => {
  steps = [];
  lines = [];
  parts = new Lifecycle(pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }));
});
afterEach(() => void vi.useRealTimers());

const never = () => new Promise<void>(() => undefined);
const part = (name: string, more: object = {}) =>
  parts.start({
    name,
    start: () => steps.push(`start ${name}`),
    drain: () => steps.push(`drain ${name}`),
    stop: () => steps.push(`stop ${name}`),
    ...more,
  });

test('parts start in order, drain together, and stop in the opposite order', async () => {
  await part('database');
  await part('data plane');
  await part('API');
  parts.serve();
  await parts.stop(10);
  expect(steps).toEqual([
    ...['start database', 'start data plane', 'start API'],
    ...['drain API', 'drain data plane', 'drain database'],
    ...['stop API', 'stop data plane', 'stop database'],
  ]);
  expect(lines).toEqual([]);
});

test('no part is stopped before all have drained', async () => {
  let finish = () => {};
  await part('database');
  await part('API', {
    drain: () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  });
  const stopped = parts.stop(1000);
  await new Promise(setImmediate);
  expect(steps).not.toContain('stop API');
  finish();
  await stopped;
  expect(steps.at(-1)).toBe('stop database');
});

test('a part that fails to stop is logged by its name, and the others stop', async () => {
  await part('database');
  await part('events', {
    stop: () => {
      throw new Error('the disk is gone');
    },
  });
  await part('API', { drain: () => Promise.reject(new Error('no socket')) });
  await parts.stop(0);
  expect(steps.slice(-2)).toEqual(['stop API', 'stop database']);
  expect(lines).toMatchObject([
    { level: 50, part: 'API', step: 'drain', err: { message: 'no socket' } },
    { level: 50, part: 'events', step: 'stop', err: { message: 'the disk is gone' } },
  ]);
});

test('parts that hang are given up one by one, all within 5 s and a quarter of a second for each', async () => {
  vi.useFakeTimers();
  await part('database');
  for (let i = 0; i < 10; i++) await part(`hanging ${i}`, { stop: never });
  let isStopped = false;
  const stopped = parts.stop(0).then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(5000 + 10 * 250);
  expect(isStopped).toBe(true);
  await stopped;
  expect(steps.at(-1)).toBe('stop database');
  expect(lines).toHaveLength(10);
});

test('a part with a limit of its own may take that long', async () => {
  vi.useFakeTimers();
  await part('database', {
    stopTimeoutMs: 10_000,
    stop: () => new Promise((resolve) => setTimeout(resolve, 9000)),
  });
  const stopped = parts.stop(0);
  await vi.advanceTimersByTimeAsync(9000);
  await stopped;
  expect(lines).toEqual([]);
});

test('a drain that hangs is given up 10 s after its time', async () => {
  vi.useFakeTimers();
  await part('API', { drain: never });
  const stopped = parts.stop(3000);
  await vi.advanceTimersByTimeAsync(12_999);
  expect(steps).not.toContain('stop API');
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
  expect(steps).toContain('stop API');
  expect(lines).toMatchObject([{ part: 'API', step: 'drain' }]);
});

test('a part whose start fails is not stopped; those before it are', async () => {
  await part('database');
  await expect(part('API', { start: () => Promise.reject(new Error('EADDRINUSE')) })).rejects.toThrow('EADDRINUSE');
  await parts.stop(0);
  expect(steps.filter((step) => step.startsWith('stop'))).toEqual(['stop database']);
});

test('the process is ready only while it serves and every part can; the last part is asked first', async () => {
  let database: string | null = null;
  let feed: string | null = null;
  await part('database', { ready: () => database });
  await part('change feed', { ready: async () => feed });
  expect(await parts.reasonNotReady()).toBe('The gateway is starting.');
  parts.serve();
  expect(await parts.reasonNotReady()).toBeNull();
  database = 'The database cannot be reached.';
  expect(await parts.reasonNotReady()).toBe(database);
  feed = 'The connection is lost.';
  expect(await parts.reasonNotReady()).toBe(feed);
  await parts.announceStop(0);
  expect(await parts.reasonNotReady()).toBe('The gateway is stopping.');
});

test('a second stop waits for the first, and stops nothing twice', async () => {
  await part('database');
  await Promise.all([parts.stop(0), parts.stop(0)]);
  await parts.stop(0);
  expect(steps.filter((step) => step === 'stop database')).toHaveLength(1);
});
