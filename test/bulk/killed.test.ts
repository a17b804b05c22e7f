// A process that is killed in the midst of a job: the next one goes on, and no object is done twice.

import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type GatewayProcess, startProcess } from '../support/gateway/process.ts';

const OBJECTS = 300;
const ROOT_FIELDS = 20;

test('after kill -9 a job goes on, each object is done once, and the trail tells of each once', async () => {
  const env = { RATE_LIMIT: '100000', NODE_LEASE_MS: '3000' };
  let gateway = await startProcess(env);
  onTestFinished(async () => {
    await gateway.kill('SIGKILL');
    await gateway.place.remove();
  });
  const ask = async (query: string, by: GatewayProcess = gateway) => {
    const { body } = await by.call('POST', '/graphql', { query });
    expect(body.errors).toBeUndefined();
    return body.data;
  };
  const creations = Array.from(
    { length: ROOT_FIELDS },
    (_, i) => `_${i}: createCredential(input: {}) { credential { id } }`,
  );
  for (let made = 0; made < OBJECTS; made += ROOT_FIELDS) await ask(`mutation { ${creations.join(' ')} }`);
  const {
    createBotUser: { botUser: heir },
  } = await ask('mutation { createBotUser(input: { name: "heir" }) { botUser { id } } }');
  const { credentials } = await ask('{ credentials(first: 1) { totalCount } }');
  const job = await ask(`mutation { startBulkJob(input: {
    list: "credentials", action: CHANGE_OWNER, filter: "true", ownerId: "${heir.id}" }) { bulkJob { id } } }`);
  const progress = async () =>
    (await ask(`{ bulkJob(id: "${job.startBulkJob.bulkJob.id}") { state total done failed skipped } }`)).bulkJob;
  await eventually(async () => expect((await progress()).done).toBeGreaterThan(0));
  await gateway.kill('SIGKILL');

  gateway = await gateway.restart(env);
  expect((await progress()).done).toBeLessThan(credentials.totalCount);
  await expect.poll(async () => (await progress()).state, { timeout: 50_000 }).toBe('SUCCEEDED');
  expect(await progress()).toEqual({
    ...{ state: 'SUCCEEDED', total: credentials.totalCount, done: credentials.totalCount, failed: 0, skipped: 0 },
  });
  const owned = await ask(`{ credentials(filter: "obj.owner_id == \\"${heir.id}\\"") { totalCount } }`);
  expect(owned.credentials.totalCount).toBe(credentials.totalCount);
  const told = await ask('{ auditEntries(action: UPDATED, kind: "credential") { totalCount } }');
  expect(told.auditEntries.totalCount).toBe(credentials.totalCount);
});
