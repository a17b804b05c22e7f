// Jobs that somebody ends, and jobs of people who lose their rights on the way.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type Body, ended, jobOf, start } from './jobs.ts';

const OBJECTS = 150;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  account = await gateway.newAccount();
  const { accountId, ownerId } = account;
  const data = Array.from({ length: OBJECTS }, () => {
    const id = newId('cr');
    return { id, accountId, ownerId, digest: id };
  });
  await gateway.app.prisma.credential.createMany({ data });
});

const left = () => gateway.app.prisma.credential.count({ where: { accountId: account.accountId } });

/** Starts to delete all, and waits until some are deleted. */
async function startToDelete(by: Pick<Account, 'graphql'> = account): Promise<string> {
  const { data } = await start(by, { list: 'credentials', filter: 'true', action: 'DELETE' });
  await expect.poll(left).toBeLessThan(OBJECTS);
  return data.startBulkJob.bulkJob.id;
}

/** Every object is accounted for: deleted, refused, or not come to. */
async function expectAccounted({ total, done, failed }: Body, notComeTo: number): Promise<void> {
  expect(await left()).toBe(total - done);
  expect(done + failed + notComeTo).toBe(total);
}

test('a job that is cancelled stops, and what it has done stays', async () => {
  const id = await startToDelete();
  const cancel = 'mutation ($id: ID!) { cancelBulkJob(id: $id) { bulkJob { state finishedAt } } }';
  const { body } = await account.graphql(cancel, { id });
  expect(body.data.cancelBulkJob.bulkJob).toMatchObject({ state: 'CANCELLED', finishedAt: expect.any(String) });
  await expect.poll(async () => (await jobOf(account, id)).done).toBe(OBJECTS - (await left()));
  const job = await jobOf(account, id);
  expect(job.done).toBeGreaterThan(0);
  await expectAccounted(job, await left());
  expect((await account.graphql(cancel, { id })).body.errors[0].extensions.code).toBe('CONFLICT');
});

test('an admin who is made a member on the way does no more than members may', async () => {
  const admin = await account.addOwner({ role: 'ADMIN' });
  const id = await startToDelete(admin);
  const demote = 'mutation ($id: ID!) { updateUser(id: $id, input: { role: MEMBER }) { user { id } } }';
  expect((await account.graphql(demote, { id: admin.ownerId })).body.errors).toBeUndefined();
  const job = await ended(account, id);
  expect(job.state).toBe('PARTLY_FAILED');
  expect(new Set(job.failures.map(({ code }: Body) => code))).toEqual(new Set(['ERR_GATEWAY_90001']));
  await expectAccounted(job, 0);
});

test('who is shut out on the way does nothing more', async () => {
  const admin = await account.addOwner({ role: 'ADMIN' });
  const id = await startToDelete(admin);
  await account.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { user { id } } }', { id: admin.ownerId });
  const job = await ended(account, id);
  expect(job).toMatchObject({ state: 'PARTLY_FAILED', failures: expect.any(Array) });
  expect(job.failures[0].code).toBe('ERR_GATEWAY_90653');
  await expectAccounted(job, 0);
});

test('a job whose API key is deleted does nothing more', async () => {
  const admin = await account.addOwner({ role: 'ADMIN' });
  const id = await startToDelete(admin);
  const keys = (await account.call('GET', '/api_keys')).body.keys as { id: string; owner_id: string }[];
  const key = keys.find(({ owner_id }) => owner_id === admin.ownerId);
  expect((await account.call('DELETE', `/api_keys/${key?.id}`)).status).toBe(204);
  const job = await ended(account, id);
  expect(job.failures[0].code).toBe('ERR_GATEWAY_90653');
  await expectAccounted(job, 0);
});
