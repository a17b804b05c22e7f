// Which process works on a certificate, where several nodes share a database and their clocks are not the same.

import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CertificateJob } from '../../src/acme/jobs/job.ts';
import { type JobStore, LeaseLost } from '../../src/acme/jobs/job-store.ts';
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
  await gateway.app.prisma.managedCertificate.create({
    data: { id, accountId: '', names: [`${id}.example.com`], privateKeyType: 'ecdsa', nextAt: new Date(0) },
  });
});
afterEach(() => gateway.app.prisma.managedCertificate.delete({ where: { id } }));

/** Takes what is due. Other tests have certificates in the same database: the one of this test is the oldest. */
async function claim(store: JobStore, at: number): Promise<CertificateJob | undefined> {
  return (await store.claim(at, LEASE_MS, 8)).find((job) => job.id === id);
}

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
  expect(await claim(store, now)).toBeDefined();
  expect(await claim(store, now + ms)).toBeUndefined();
});

test('a lease that a wrong clock has taken for hours is taken over', async () => {
  const store = storeOn(gateway.app.prisma);
  const lost = await claim(store, now + HOUR_MS);
  const job = await claim(store, now);
  expect(job).toBeDefined();
  await expect(store.publish(lost as never, [], now + HOUR_MS)).rejects.toThrow(LeaseLost);
  await store.publish(job as never, [], now + HOUR_MS);
});

test('a process that stood still while it took a job does not get the lease that another has taken since', async () => {
  const { prisma } = gateway.app;
  const other = storeOn(prisma);
  let taken: CertificateJob | undefined;
  const standingStill = prisma.$extends({
    query: {
      managedCertificate: {
        async findMany({ args, query }) {
          taken = await claim(other, now + LEASE_MS);
          return query(args);
        },
      },
    },
  });
  const store = storeOn(standingStill as unknown as PrismaClient);
  const job = await claim(store, now);
  expect(taken).toBeDefined();
  await expect(store.publish(job as never, [], now + HOUR_MS)).rejects.toThrow(LeaseLost);
  await other.publish(taken as never, [], now + HOUR_MS);
});
