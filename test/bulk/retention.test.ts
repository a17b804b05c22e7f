// Jobs that ended 30 days ago are deleted, with what they say of their objects.

import { expect, test } from 'vitest';
import { sweepBulkJobs } from '../../src/store/bulk/sweep-bulk-jobs.ts';
import { sharedGateway } from '../support/gateway/gateway.ts';
import { run } from './jobs.ts';

const DAY_MS = 86_400_000;

test('a job is kept for 30 days after its end', async () => {
  const gateway = await sharedGateway();
  const account = await gateway.newAccount();
  const { body } = await account.call('POST', '/credentials', {});
  const { id } = await run(account, { list: 'credentials', ids: [body.id], action: 'DELETE' });
  const { prisma, changes, now } = gateway.app;
  const items = () => prisma.bulkJobItem.count({ where: { jobId: id } });
  await sweepBulkJobs(prisma, changes, now() + 29 * DAY_MS);
  expect(await items()).toBe(1);
  await sweepBulkJobs(prisma, changes, now() + 31 * DAY_MS);
  expect(await items()).toBe(0);
  expect((await account.graphql('{ bulkJobs { totalCount } }')).body.data.bulkJobs.totalCount).toBe(0);
});
