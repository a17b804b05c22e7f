// Figures in the database: ten seconds become minutes, and minutes hours, and nobody who reads sees a difference.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addDuration,
  addedDurations,
  encodeSketch,
  newSketch,
  quantileOf,
} from '../../../src/edge/metrics/duration-sketch.ts';
import type { TrafficDelta } from '../../../src/edge/metrics/traffic-stats-store.ts';
import type { PrismaClient } from '../../../src/store/database/client.ts';
import { newId } from '../../../src/store/ids.ts';
import { renewDays } from '../../../src/store/traffic-stats/endpoint-days.ts';
import { readTraffic } from '../../../src/store/traffic-stats/read-history.ts';
import { rollUp } from '../../../src/store/traffic-stats/rollup.ts';
import { trafficStatsStore } from '../../../src/store/traffic-stats/traffic-stats-store.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';

const HOUR = 3_600_000;
const accountId = newId('ac');
/** The start of an hour that is over for long: the gateway itself, whose clock stands there, has nothing to sum up. */
const start = Math.floor(Date.now() / HOUR) * HOUR - 48 * HOUR;

let gateway: TestGateway;
let prisma: PrismaClient;
beforeAll(async () => {
  gateway = await startTestGateway({}, { now: () => start });
  prisma = gateway.app.prisma;
});
afterAll(() => gateway?.close());

/** What took 1 to 100 ms times a factor. */
function delta(subjectId: string, factor: number, more: Partial<TrafficDelta> = {}): TrafficDelta {
  const sketch = newSketch();
  for (let ms = 1; ms <= 100; ms++) addDuration(sketch, ms * factor);
  return {
    ...{ subjectId, accountId, responses: [1, 0, 96, 0, 1, 2], failures: 3, connections: 0 },
    ...{ bytesIn: 1000, bytesOut: 5_000_000_000, openConnections: 2, durationMs: 5050 * factor },
    ...{ durations: encodeSketch(sketch), firstBytes: null },
    ...more,
  };
}

const totals = async (subjectId: string, step: 10 | 60 | 3600, to = start + HOUR) => {
  const steps = (await readTraffic(prisma, accountId, [subjectId], { from: start, to, step })).get(subjectId);
  const all = [...(steps?.values() ?? [])];
  const sketch = addedDurations(all.flatMap(({ durations }) => durations));
  return {
    requests: all.reduce((sum, { responses }) => sum + responses.reduce((a, b) => a + b), 0),
    failures: all.reduce((sum, { failures }) => sum + failures, 0),
    bytesOut: all.reduce((sum, { bytesOut }) => sum + bytesOut, 0),
    p50: Math.round(quantileOf(sketch, 0.5)),
    p99: Math.round(quantileOf(sketch, 0.99)),
    durations: sketch.count,
  };
};

/** What there is of the last 24 hours of an endpoint. */
const dayOf = (endpointId: string) =>
  prisma.endpointDay.findUnique({ where: { endpointId }, select: { accountId: true, requests: true, bytes: true } });
const day = (requests: number) => ({ accountId, requests, bytes: (requests / 100) * 5_000_001_000 });

describe('a bucket of two processes', () => {
  const id = newId('ep');
  const store = () => trafficStatsStore(prisma);

  test('counts once, however often it comes, and its percentiles are those of both', async () => {
    for (let bucket = 0; bucket < 12; bucket++)
      for (const [writer, factor] of [
        ['node_a', 1],
        ['node_b', 10],
      ] as const) {
        const one = { writer, at: start + bucket * 10_000, deltas: [delta(id, factor), delta(accountId, factor)] };
        expect(await store().append(one)).toBe(true);
        expect(await store().append(one)).toBe(true);
      }
    const all = await totals(id, 10);
    expect(all).toMatchObject({ requests: 2400, failures: 72, bytesOut: 24 * 5_000_000_000, durations: 2400 });
    // Of 1 to 100 and 10 to 1000 the median is 91, and 99% are below 980.
    expect(Math.abs(all.p50 - 91)).toBeLessThanOrEqual(2);
    expect(Math.abs(all.p99 - 980)).toBeLessThanOrEqual(20);
  });

  test('is the same in all steps before it is summed up, while it is, and after', async () => {
    const before = await totals(id, 10);
    expect([await totals(id, 60), await totals(id, 3600)]).toEqual([before, before]);
    // Of the two minutes the first is old enough.
    await renewDays(prisma, 'node_c', start);
    expect(await dayOf(id)).toBeNull();
    expect(await prisma.trafficTask.count({ where: { name: 'days' } })).toBe(0); // There was nothing yet.
    await rollUp(prisma, 'node_c', start + 6 * 60_000 + 1000);
    expect(await dayOf(id)).toEqual(day(1200));
    expect(await prisma.trafficStat.count({ where: { subjectId: id, resolution: 60 } })).toBe(1);
    expect([await totals(id, 60), await totals(id, 3600)]).toEqual([before, before]);
    await rollUp(prisma, 'node_c', start + 2 * HOUR);
    expect(await prisma.trafficStat.count({ where: { subjectId: id, resolution: 60 } })).toBe(2);
    expect([await totals(id, 60), await totals(id, 3600)]).toEqual([before, before]);
    expect(await dayOf(id)).toEqual(day(2400));
  });

  test('is one of the last 24 hours until its hour is longer ago, and that of an endpoint alone', async () => {
    for (const hours of [2, 23]) {
      await renewDays(prisma, 'node_c', start + hours * HOUR);
      expect(await dayOf(id)).toEqual(day(2400));
    }
    expect(await dayOf(accountId)).toBeNull();
    await renewDays(prisma, 'node_d', start + 24 * HOUR); // Another does it.
    expect(await dayOf(id)).toEqual(day(2400));
    await renewDays(prisma, 'node_c', start + 24 * HOUR - 1);
    expect(await dayOf(id)).toEqual(day(2400));
    await renewDays(prisma, 'node_c', start + 24 * HOUR);
    expect(await dayOf(id)).toBeNull();
  });

  test('is not taken after it was summed up', async () => {
    expect(await store().append({ writer: 'node_late', at: start, deltas: [delta(id, 1)] })).toBe(false);
    expect((await totals(id, 60)).requests).toBe(2400);
  });
});

test('a process that dies while it sums up leaves nothing twice, and the next one goes on', async () => {
  const id = newId('ep');
  const from = start + 30 * 60_000;
  for (let bucket = 0; bucket < 6; bucket++)
    await trafficStatsStore(prisma).append({ writer: 'node_a', at: from + bucket * 10_000, deltas: [delta(id, 1)] });
  const before = await totals(id, 60);
  const dying = Object.create(prisma, {
    $transaction: {
      value: (work: (tx: unknown) => Promise<unknown>) =>
        prisma.$transaction(async (tx) => {
          await work(tx);
          throw new Error('killed');
        }),
    },
  }) as PrismaClient;
  await expect(rollUp(dying, 'node_c', start + 3 * HOUR)).rejects.toThrow('killed');
  expect(await totals(id, 60)).toEqual(before);
  expect(await dayOf(id)).toBeNull();
  // The lease of the dead one is over after a while.
  expect(await rollUp(prisma, 'node_d', start + 3 * HOUR)).toBeUndefined();
  await prisma.$executeRaw`UPDATE traffic_task SET lease_until = now() - interval '1 second'`;
  await rollUp(prisma, 'node_d', start + 3 * HOUR);
  expect(await totals(id, 60)).toEqual(before);
  expect(await prisma.trafficStat.count({ where: { subjectId: id, resolution: 60 } })).toBe(1);
  expect(await dayOf(id)).toEqual(day(600));
});
