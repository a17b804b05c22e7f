// Which process works on a certificate, where several nodes share a database and their clocks are not the same.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { LeaseLost } from '../../src/acme/jobs/job-store.ts';
import { certificateJobStore } from '../../src/store/certificates/job-store.ts';
import type { PrismaClient } from '../../src/store/database/client.ts';
import { newId } from '../../src/store/ids.ts';
import { sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

const LEASE_MS = 120_000;
const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;

let gateway: TestGateway;
let id: string;
let now: number;
// It obtains no certificates, so that no job is taken but by these tests.
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  now = Date.now();
  id = newId('mcert');
  await gateway.app.prisma.managedCertificate.deleteMany();
  await gateway.app.prisma.managedCertificate.create({
    data: { id, accountId: '', names: [`${id}.example.com`], privateKeyType: 'ecdsa', nextAt: new Date(now - HOUR_MS) },
  });
});

function storeOn(prisma: PrismaClient) {
  const { changes, keys } = gateway.app;
  const read = () => expect.unreachable('no certificate is installed');
  return certificateJobStore({ prisma, changes, keys, read, baseUrl: () => '' });
}

test.each([
  ['as late', 0],
  ['a second behind', -SECOND_MS],
  ['a minute behind', -60 * SECOND_MS],
  ['a minute ahead', 60 * SECOND_MS],
])('a job that a node works on is not taken by one whose clock is %s', async (_, ms) => {
  const store = storeOn(gateway.app.prisma);
  expect((await store.claim(now, LEASE_MS, 8)).map((job) => job.id)).toEqual([id]);
  expect(await store.claim(now + ms, LEASE_MS, 8)).toEqual([]);
});

test('a lease that a wrong clock has taken for hours is taken over', async () => {
  const store = storeOn(gateway.app.prisma);
  const [lost] = await store.claim(now + HOUR_MS, LEASE_MS, 8);
  const [job] = await store.claim(now, LEASE_MS, 8);
  expect(job?.id).toBe(id);
  await expect(store.publish(lost as never, [], now + HOUR_MS)).rejects.toThrow(LeaseLost);
  await store.publish(job as never, [], now + HOUR_MS);
});

test('a process that stood still while it took a job does not get the lease that another has taken since', async () => {
  const { prisma } = gateway.app;
  const other = storeOn(prisma);
  const taken: Awaited<ReturnType<typeof other.claim>> = [];
  const standingStill = prisma.$extends({
    query: {
      managedCertificate: {
        async findMany({ args, query }) {
          taken.push(...(await other.claim(now + LEASE_MS, LEASE_MS, 8)));
          return query(args);
        },
      },
    },
  });
  const store = storeOn(standingStill as unknown as PrismaClient);
  const [job] = await store.claim(now, LEASE_MS, 8);
  expect(taken.map((one) => one.id)).toEqual([id]);
  await expect(store.publish(job as never, [], now + HOUR_MS)).rejects.toThrow(LeaseLost);
  await other.publish(taken[0] as never, [], now + HOUR_MS);
});
