// Jobs over many objects: which objects, what is done to each of them, by whom, and back again.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Account, type Owner, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { ended, jobOf, run, start, undo } from './jobs.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  account = await gateway.newAccount();
});

const newCredential = async (description: string, by: Owner = account, more: object = {}): Promise<string> =>
  (await by.call('POST', '/credentials', { description, ...more })).body.id;
const newCredentials = (count: number, description = 'press') =>
  Promise.all(Array.from({ length: count }, () => newCredential(description)));
const credentials = async (): Promise<{ id: string; owner_id: string; description: string }[]> =>
  (await account.call('GET', '/credentials')).body.credentials;

describe('which objects', () => {
  test('a filter chooses them when the job starts, and the count that was shown must be right', async () => {
    await newCredentials(3);
    const kept = await newCredential('lathe');
    const input = { list: 'credentials', filter: 'obj.description == "press"', action: 'DELETE' };
    const { errors } = await start(account, { ...input, expectedCount: 4 });
    expect(errors[0].extensions).toMatchObject({ code: 'CONFLICT', errorCode: 'ERR_GATEWAY_90645' });
    expect(errors[0].message).toContain('These are 3 objects now, and expectedCount is 4.');
    expect(await credentials()).toHaveLength(4);

    const job = await run(account, { ...input, expectedCount: 3 });
    expect(job).toMatchObject({ state: 'SUCCEEDED', total: 3, done: 3, failed: 0, skipped: 0, isUndoable: false });
    expect((await credentials()).map(({ id }) => id)).toEqual([kept]);
  });

  test('ids of other accounts are refused one by one, and named', async () => {
    const [own] = await newCredentials(1);
    const foreign = await newCredential('theirs', await gateway.newAccount());
    const job = await run(account, { list: 'credentials', ids: [own, foreign, 'cr_nothing'], action: 'DELETE' });
    expect(job).toMatchObject({ state: 'PARTLY_FAILED', total: 3, done: 1, failed: 2 });
    expect(job.failures).toEqual(
      ['cr_nothing', foreign]
        .sort()
        .map((objectId) => ({ objectId, code: 'ERR_GATEWAY_90020', message: 'There is no credential with this id.' })),
    );
    const page = async (args: string) => {
      const query = `query ($id: ID!) { bulkJob(id: $id) { failures(${args}) { totalCount nodes { objectId object { id } } pageInfo { hasNextPage endCursor } } } }`;
      return (await account.graphql(query, { id: job.id })).body.data.bulkJob.failures;
    };
    const [first, second] = ['cr_nothing', foreign].sort();
    const begin = await page('first: 1');
    expect(begin).toMatchObject({ totalCount: 2, nodes: [{ objectId: first }], pageInfo: { hasNextPage: true } });
    expect(await page(`first: 1, after: "${begin.pageInfo.endCursor}"`)).toMatchObject({
      ...{ nodes: [{ objectId: second }], pageInfo: { hasNextPage: false } },
    });
    expect((await page(`last: 1, before: "${second}"`)).nodes).toMatchObject([{ objectId: first }]);
  });

  test.each([
    { what: 'no objects', input: {}, says: 'The filter "true" stands for all.' },
    { what: 'an empty list of ids', input: { ids: [] }, says: 'Say which objects' },
    { what: 'ids and a filter', input: { ids: ['cr_x'], filter: 'true' }, says: 'Give either ids, or filter' },
    { what: 'an unknown list', input: { list: 'things', filter: 'true' }, says: 'must be the name of a list' },
    { what: 'what the list does not have', input: { list: 'endpoints', filter: 'true' }, says: 'it has: none' },
    { what: 'an owner for a deletion', input: { filter: 'true', ownerId: 'usr_x' }, says: 'no meaning for DELETE' },
    { what: 'no owner', input: { filter: 'true', action: 'CHANGE_OWNER' }, says: 'ownerId is required' },
    { what: 'an unknown owner', input: { filter: 'true', action: 'CHANGE_OWNER', ownerId: 'usr_x' }, says: 'ownerId' },
    {
      what: 'no labels',
      input: { list: 'agents', filter: 'true', action: 'CHANGE_LABELS' },
      says: 'needs a label in setLabels',
    },
    { what: 'a filter of other members', input: { filter: 'obj.colour == "red"' }, says: 'colour' },
  ])('$what is refused, with what would be right', async ({ input, says }) => {
    const { errors } = await start(account, { list: 'credentials', action: 'DELETE', ...input });
    expect(errors[0].message).toContain(says);
    expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('the same idempotency key starts one job', async () => {
    await newCredentials(2);
    const input = { list: 'credentials', filter: 'true', action: 'DELETE' };
    const first = await start(account, input, 'once');
    const second = await start(account, input, 'once');
    expect(second.data.startBulkJob.bulkJob.id).toBe(first.data.startBulkJob.bulkJob.id);
    await ended(account, first.data.startBulkJob.bulkJob.id);
    expect((await account.graphql('{ bulkJobs { totalCount } }')).body.data.bulkJobs.totalCount).toBe(1);
  });
});

test('what is in use is refused as the mutation of one refuses it', async () => {
  const { body: backend } = await account.call('POST', '/backends/tunnel_group', { labels: { app: 'shop' } });
  await account.call('POST', '/edges/https', {});
  const { body: edge } = await account.call('POST', '/edges/https', {});
  await account.call('POST', `/edges/https/${edge.id}/routes`, {
    ...{ match_type: 'path_prefix', match: '/', backend: { backend_id: backend.id } },
  });
  const refused = await run(account, { list: 'tunnelGroupBackends', ids: [backend.id], action: 'DELETE' });
  expect(refused).toMatchObject({ state: 'FAILED', failures: [{ objectId: backend.id, code: 'ERR_GATEWAY_6502' }] });
  expect(await run(account, { list: 'httpsEdges', filter: 'true', action: 'DELETE' })).toMatchObject({ done: 2 });
  expect(await run(account, { list: 'tunnelGroupBackends', filter: 'true', action: 'DELETE' })).toMatchObject({
    ...{ state: 'SUCCEEDED', done: 1 },
  });
});

describe('the owner', () => {
  test('changes, in the audit trail by who started the job, and back but for what was changed since', async () => {
    const ids = await newCredentials(3);
    const [heir, other] = [await account.addOwner(), await account.addOwner()];
    await newCredential('heirloom', account, { owner_id: heir.ownerId });
    const change = { list: 'credentials', action: 'CHANGE_OWNER' };
    const job = await run(account, { ...change, filter: 'true', ownerId: heir.ownerId, expectedCount: 4 });
    expect(job).toMatchObject({ state: 'SUCCEEDED', done: 3, skipped: 1, isUndoable: true, actorId: account.ownerId });
    expect(new Set((await credentials()).map(({ owner_id }) => owner_id))).toEqual(new Set([heir.ownerId]));
    const history = `query ($id: ID!) { objectHistory(id: $id) { nodes { action actorId before after } } }`;
    const { body } = await account.graphql(history, { id: ids[0] });
    expect(body.data.objectHistory.nodes[0]).toEqual({
      ...{ action: 'UPDATED', actorId: account.ownerId },
      ...{ before: { owner_id: account.ownerId }, after: { owner_id: heir.ownerId } },
    });

    await run(account, { ...change, ids: [ids[1]], ownerId: other.ownerId });
    await account.call('DELETE', `/credentials/${ids[2]}`);
    const undone = await ended(account, (await undo(account, job.id)).data.undoBulkJob.bulkJob.id);
    expect(undone).toMatchObject({ state: 'SUCCEEDED', total: 3, done: 1, skipped: 2, undoOf: { id: job.id } });
    const owners = new Map((await credentials()).map(({ id, owner_id }) => [id, owner_id]));
    expect(owners.get(ids[0] ?? '')).toBe(account.ownerId);
    expect(owners.get(ids[1] ?? '')).toBe(other.ownerId);
    expect(await jobOf(account, job.id)).toMatchObject({ isUndoable: false, undoneBy: { id: undone.id } });
    expect((await undo(account, job.id)).errors[0].message).toContain('it has been undone already');
  });

  test('is the business of admins', async () => {
    const member = await account.addOwner({ role: 'MEMBER' });
    const input = { list: 'apiKeys', filter: 'true', action: 'CHANGE_OWNER', ownerId: member.ownerId };
    expect((await start(member, input)).errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('of API keys changes, too: they have the rights of the new one at once', async () => {
    const key = (await account.call('POST', '/api_keys', {})).body;
    const member = await account.addOwner({ role: 'MEMBER' });
    const users = () => gateway.call('GET', '/bot_users', undefined, { key: key.token });
    expect((await users()).status).toBe(200);
    await run(account, { list: 'apiKeys', ids: [key.id], action: 'CHANGE_OWNER', ownerId: member.ownerId });
    const { body } = await gateway.graphql('{ viewer { user { id } } }', {}, { key: key.token });
    expect(body.data.viewer.user.id).toBe(member.ownerId);
  });
});

describe('labels', () => {
  test('of provisioning keys are merged, and set back', async () => {
    const query =
      'mutation ($input: CreateProvisioningKeyInput!) { createProvisioningKey(input: $input) { provisioningKey { id } } }';
    await account.graphql(query, { input: { labels: { site: 'berlin', line: '1' } } });
    const labels = async () =>
      (await account.graphql('{ provisioningKeys { nodes { labels } } }')).body.data.provisioningKeys.nodes[0].labels;
    const change = { setLabels: { site: 'paris', floor: '2' }, removeLabels: ['line'] };
    const job = await run(account, { list: 'provisioningKeys', filter: 'true', action: 'CHANGE_LABELS', ...change });
    expect(job).toMatchObject({ done: 1, ...change });
    expect(await labels()).toEqual({ site: 'paris', floor: '2' });
    await ended(account, (await undo(account, job.id)).data.undoBulkJob.bulkJob.id);
    expect(await labels()).toEqual({ site: 'berlin', line: '1' });
  });

  test('of a backend cannot all be taken away, as in its mutation', async () => {
    const { body } = await account.call('POST', '/backends/tunnel_group', { labels: { app: 'shop' } });
    const input = { list: 'tunnelGroupBackends', ids: [body.id], action: 'CHANGE_LABELS', removeLabels: ['app'] };
    expect(await run(account, input)).toMatchObject({ state: 'FAILED', failures: [{ code: 'ERR_GATEWAY_90054' }] });
  });
});

test('a member deletes what is its own, and sees its own jobs alone', async () => {
  const member = await account.addOwner({ role: 'MEMBER' });
  const theirs = await newCredential('theirs', member);
  const [mine] = await newCredentials(1);
  const job = await run(member, { list: 'credentials', filter: 'true', action: 'DELETE' });
  expect(job).toMatchObject({
    state: 'PARTLY_FAILED',
    done: 1,
    failures: [{ objectId: mine, code: 'ERR_GATEWAY_90001' }],
  });
  expect((await credentials()).map(({ id }) => id)).not.toContain(theirs);
  const another = await account.addOwner({ role: 'MEMBER' });
  expect((await another.graphql('{ bulkJobs { nodes { id } } }')).body.data.bulkJobs.nodes).toEqual([]);
  expect((await undo(another, job.id)).errors[0].extensions.code).toBe('NOT_FOUND');
  expect((await undo(account, job.id)).errors[0].message).toContain('DELETE cannot be undone');
});

test('who lists what there is sees what can be done with it', async () => {
  const member = await account.addOwner({ role: 'MEMBER' });
  const offered = async (owner: Owner) => {
    const { body } = await owner.graphql('{ listKinds { name bulkActions exportPath members { name type } } }');
    const lists: { name: string; bulkActions: string[] }[] = body.data.listKinds;
    return (name: string) => lists.find((list) => list.name === name)?.bulkActions.toSorted();
  };
  const [admins, members] = [await offered(account), await offered(member)];
  expect(admins('credentials')).toEqual(['CHANGE_OWNER', 'DELETE']);
  expect(members('credentials')).toEqual(['DELETE']);
  expect(admins('agents')).toEqual(['CHANGE_LABELS', 'DELETE']);
  expect([admins('botUsers'), members('botUsers')]).toEqual([['DELETE'], []]);
  expect(admins('endpoints')).toEqual([]);
});
