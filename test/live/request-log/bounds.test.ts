// The bounds of the request log: memory, age, and what a busy endpoint or account can push out of those of others.

import { describe, expect, test } from 'vitest';
import { BLOCK_SIZE, ENDPOINT_MAX } from '../../../src/request-log/endpoint-log.ts';
import { MAX_AGE_MS, RequestLog } from '../../../src/request-log/request-log.ts';
import { logRequestTo } from '../../support/logged-requests.ts';

const MAX_BYTES = 100_000;

/** A log with a clock of its own. */
function labOf(maxBytes = MAX_BYTES) {
  let time = 1_795_000_000_000;
  const log = new RequestLog({ maxBytes, time: () => time, now: () => time });
  return {
    log,
    pass: (ms: number) => {
      time += ms;
    },
    ask(accountId: string, endpointId: string, times = 1, path = '/') {
      for (let i = 0; i < times; i++) logRequestTo(log, { id: endpointId, accountId }, path, time);
    },
    newest: (accountId: string, endpointIds: string[] | null = null, limit = 100_000) =>
      log.read({ accountId, endpointIds }, { limit }),
  };
}

describe('memory', () => {
  test('is never more than it may be, whatever the requests are like', () => {
    const lab = labOf();
    for (let i = 0; i < 3000; i++) {
      lab.ask(`ac_${i % 7}`, `ep_${i % 50}`, 1 + (i % 3), `/${'x'.repeat((i * 37) % 2000)}`);
      expect(lab.log.bytes).toBeLessThanOrEqual(MAX_BYTES);
    }
    for (let i = 0; i < 1000; i++) lab.ask('ac_many', `ep_new_${i}`);
    expect(lab.log.bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  test('of a quiet endpoint and of a quiet account is not taken by busy ones', async () => {
    const lab = labOf();
    lab.ask('ac_1', 'ep_quiet', 10, '/quiet');
    lab.ask('ac_2', 'ep_other', 10, '/other');
    lab.ask('ac_1', 'ep_busy', 20_000, '/busy');
    expect(await lab.newest('ac_1', ['ep_quiet'])).toHaveLength(10);
    expect(await lab.newest('ac_2')).toHaveLength(10);
    expect((await lab.newest('ac_1', ['ep_busy'])).length).toBeGreaterThan(100);
  });

  test('is shared fairly with an account that comes later', async () => {
    const lab = labOf();
    lab.ask('ac_1', 'ep_busy', 10_000);
    const before = (await lab.newest('ac_1')).length;
    lab.ask('ac_2', 'ep_late', 10_000);
    const [first, late] = [await lab.newest('ac_1'), await lab.newest('ac_2')];
    expect(Math.abs(first.length - late.length)).toBeLessThanOrEqual(2 * BLOCK_SIZE);
    expect(first.length + late.length).toBeGreaterThan(before - 2 * BLOCK_SIZE);
  });

  test(`of one endpoint is for about ${ENDPOINT_MAX} requests, the newest of which are given first`, async () => {
    const lab = labOf(100_000_000);
    for (let i = 0; i < ENDPOINT_MAX + 100; i++) lab.ask('ac_1', 'ep_1', 1, `/${i}`);
    const all = await lab.newest('ac_1');
    expect(Math.abs(all.length - ENDPOINT_MAX)).toBeLessThanOrEqual(BLOCK_SIZE);
    expect([all[0]?.path, all.at(-1)?.path]).toEqual([`/${ENDPOINT_MAX + 99}`, `/${ENDPOINT_MAX + 100 - all.length}`]);
    expect((await lab.newest('ac_1', null, 3)).map(({ path }) => path)).toEqual(
      all.slice(0, 3).map(({ path }) => path),
    );
  });
});

test('requests of many endpoints are given in the order in which they were over', async () => {
  const lab = labOf(100_000_000);
  for (let i = 0; i < 2000; i++) lab.ask('ac_1', `ep_${(i * 13) % 40}`, 1, `/${i}`);
  const newest = (await lab.newest('ac_1', null, 50)).map(({ path }) => path);
  expect(newest).toEqual(Array.from({ length: 50 }, (_, i) => `/${1999 - i}`));
});

test('after a day they are gone, and so is their memory', async () => {
  const lab = labOf();
  lab.ask('ac_1', 'ep_1', BLOCK_SIZE);
  const { bytes } = lab.log;
  lab.pass(MAX_AGE_MS - 1000);
  lab.ask('ac_1', 'ep_1', 1, '/young');
  lab.pass(2000);
  expect((await lab.newest('ac_1')).map(({ path }) => path)).toEqual(['/young']);
  lab.log.sweep();
  expect(lab.log.bytes).toBeLessThan(bytes / 2);
  lab.pass(MAX_AGE_MS);
  lab.log.sweep();
  expect([lab.log.bytes, await lab.newest('ac_1')]).toEqual([0, []]);
});
