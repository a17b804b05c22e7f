// Who did what is kept with what it changed, and is read by those who may.

import { beforeAll, describe, expect, test } from 'vitest';
import { newCredential, openSession } from '../support/agents/live.ts';
import { rawAgent } from '../support/agents/raw-agent.ts';
import { type Account, type Owner, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type Subscription, subscribe } from '../support/gateway/sse.ts';

const ENTRY = `id createdAt source actorId actorSubject credentialId ip userAgent operationId action kind objectId objectName
  before after hiddenChanged`;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

// biome-ignore lint/suspicious/noExplicitAny: the JSON of entries, which assertions look into.
type Entry = any;

async function entries(args: string, { graphql }: Owner = account): Promise<Entry[]> {
  const { body } = await graphql(`{ auditEntries(${args}) { nodes { ${ENTRY} } } }`);
  expect(body.errors).toBeUndefined();
  return body.data.auditEntries.nodes;
}

async function history(id: string, { graphql }: Owner = account): Promise<Entry[]> {
  const { body } = await graphql(`query ($id: ID!) { objectHistory(id: $id) { nodes { ${ENTRY} } } }`, { id });
  expect(body.errors).toBeUndefined();
  return body.data.objectHistory.nodes;
}

const post = async (path: string, body: object, { call }: Owner = account) => {
  const answer = await call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer;
};

describe('a write', () => {
  test('says who changed what, from where and with what', async () => {
    const { body: policy, headers } = await post('/ip_policies', { description: 'office' });
    const changed = await account.call(
      'PATCH',
      `/ip_policies/${policy.id}`,
      { description: 'offices' },
      { headers: { 'user-agent': 'a client '.repeat(100) } },
    );
    await account.call('DELETE', `/ip_policies/${policy.id}`);
    const [deleted, updated, created] = await history(policy.id);
    const key = await gateway.app.prisma.apiKey.findFirstOrThrow({ where: { ownerId: account.ownerId } });
    const by = { source: 'API', actorId: account.ownerId, actorSubject: `${account.ownerId}@localhost` };
    const what = { kind: 'ipPolicy', objectId: policy.id, credentialId: key.id, ip: '127.0.0.1', hiddenChanged: false };
    expect(created).toMatchObject({ ...by, ...what, action: 'CREATED', objectName: 'office', before: null });
    expect(created).toMatchObject({ after: policy, operationId: headers['service-operation-id'] });
    expect(Object.keys(created.after), 'members are in the order of REST').toEqual(Object.keys(policy));
    const members = { before: { description: 'office' }, after: { description: 'offices' } };
    expect(updated).toMatchObject({ ...by, ...what, action: 'UPDATED', objectName: 'offices', ...members });
    expect(updated.userAgent).toBe('a client '.repeat(100).slice(0, 255));
    expect(Object.keys(updated.after)).toEqual(['description']);
    expect(deleted).toMatchObject({ ...by, ...what, action: 'DELETED', before: changed.body, after: null });
  });

  test('that changes nothing, fails or is an idempotent repetition leaves no entry', async () => {
    const key = { headers: { 'idempotency-key': 'kept-once' } };
    const { body: made } = await account.call('POST', '/api_keys', { description: 'once' }, key);
    await account.call('POST', '/api_keys', { description: 'once' }, key);
    await account.call('PATCH', `/api_keys/${made.id}`, { description: 'once' });
    await account.call('PATCH', `/api_keys/${made.id}`, {});
    await account.call('PATCH', `/api_keys/${made.id}`, { description: 'x'.repeat(300) });
    await account.call('DELETE', `/api_keys/${account.ownerId}`);
    expect((await history(made.id)).map(({ action }) => action)).toEqual(['CREATED']);
  });

  test('of a secret alone says that something hidden changed', async () => {
    const { body: edge } = await post('/edges/https', {});
    const verification = { provider: 'github', secret: 'canary-one-0123456789' };
    const route = { match_type: 'path_prefix', match: '/', webhook_verification: verification };
    const { body: made } = await post(`/edges/https/${edge.id}/routes`, route);
    await account.call('PATCH', made.uri, {
      webhook_verification: { ...verification, secret: 'canary-two-0123456789' },
    });
    const [changed] = await history(made.id);
    expect(changed).toMatchObject({ action: 'UPDATED', hiddenChanged: true, before: null, after: null });
    expect(JSON.stringify(await history(made.id))).not.toContain('canary');
  });

  test('leaves entries for what is deleted along with it', async () => {
    const { body: policy } = await post('/ip_policies', { description: 'with rules' });
    const { body: rule } = await post('/ip_policy_rules', {
      ip_policy_id: policy.id,
      cidr: '192.0.2.0/24',
      action: 'deny',
    });
    await account.call('DELETE', `/ip_policies/${policy.id}`);
    const deletions = await entries('action: DELETED, first: 2');
    expect(deletions.map(({ objectId, before }) => ({ objectId, before }))).toEqual([
      { objectId: policy.id, before: policy },
      { objectId: rule.id, before: rule },
    ]);
    expect((await history(rule.id)).map(({ action, objectName }) => [action, objectName])).toEqual([
      ['DELETED', '192.0.2.0/24'],
      ['CREATED', '192.0.2.0/24'],
    ]);
  });
});

describe('what is read', () => {
  test('is chosen by actor, object, kind, action, time and words, and paged', async () => {
    const bot = await account.addOwner({ kind: 'BOT' });
    const { body: credential } = await post('/credentials', { description: 'Harbour crane' }, bot);
    const { body: key } = await post('/api_keys', { description: 'harbour office' });
    const ids = async (args: string) => (await entries(args)).map(({ objectId }) => objectId);
    expect(await ids(`actorId: "${bot.ownerId}"`)).toEqual([credential.id]);
    expect(await ids(`objectId: "${key.id}"`)).toEqual([key.id]);
    expect(await ids('kind: "credential"')).toEqual([credential.id]);
    expect(await ids('text: "crane HARBOUR"')).toEqual([credential.id]);
    expect(await ids('text: "harbour"')).toEqual([key.id, credential.id]);
    expect(await ids('text: "har_our"')).toEqual([]);
    expect(await ids('text: "harbour", action: DELETED')).toEqual([]);
    const hour = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    expect(await ids(`text: "harbour", from: "${hour(-1)}", to: "${hour(1)}"`)).toEqual([key.id, credential.id]);
    expect(await ids(`text: "harbour", to: "${hour(-1)}"`)).toEqual([]);
    expect(await ids(`text: "harbour", from: "${hour(1)}"`)).toEqual([]);
    const [first] = await entries('text: "harbour", first: 1');
    expect(await ids(`text: "harbour", after: "${first.id}"`)).toEqual([credential.id]);
    expect(await ids(`text: "harbour", last: 1, before: "${first.id}"`)).toEqual([]);
    const wrong = await account.graphql('{ auditEntries(from: "yesterday") { nodes { id } } }');
    expect(wrong.body.errors[0].message).toContain('as in 2026-11-21');
  });

  test('is, for members, what they did and the history of what they can look up, without others’ addresses', async () => {
    const [one, two] = [await account.addOwner(), await account.addOwner()];
    const { body: policy } = await post('/ip_policies', { description: 'shared' }, one);
    await two.call('PATCH', `/ip_policies/${policy.id}`, { description: 'ours' });
    expect((await entries('first: 100', one)).map(({ action, ip }) => [action, ip])).toEqual([
      ['CREATED', '127.0.0.1'],
    ]);
    const seen = (await history(policy.id, one)).map(({ actorId, ip, credentialId }) => [actorId, ip, credentialId]);
    expect(seen).toEqual([
      [two.ownerId, null, null],
      [one.ownerId, '127.0.0.1', expect.stringMatching(/^ak_/)],
    ]);
    await account.call('DELETE', `/ip_policies/${policy.id}`);
    expect((await history(policy.id, two)).map(({ actorId }) => actorId)).toEqual([two.ownerId]);
    expect(await history(policy.id, await gateway.newAccount())).toEqual([]);
    await account.graphql('mutation ($id: ID!) { updateUser(id: $id, input: { role: ADMIN }) { user { id } } }', {
      id: two.ownerId,
    });
    expect(await history(two.ownerId, one)).toEqual([]);
    expect(await history(two.ownerId, two)).toMatchObject([{ before: { role: 'member' }, after: { role: 'admin' } }]);
  });

  test('comes live, to members what is theirs', async () => {
    const member = await account.addOwner();
    const query = 'subscription { auditEntryAdded { action objectName actorId } }';
    const all = await subscribe(gateway.api, account.key, query);
    const own = await subscribe(gateway.api, member.key, query);
    await post('/api_keys', { description: 'by the admin' });
    await post('/api_keys', { description: 'by the member' }, member);
    const next = async (stream: Subscription) => (await stream.next()).data.auditEntryAdded;
    const byMember = { action: 'CREATED', objectName: 'by the member', actorId: member.ownerId };
    expect(await next(all)).toMatchObject({ objectName: 'by the admin', actorId: account.ownerId });
    expect(await next(all)).toEqual(byMember);
    expect(await next(own)).toEqual(byMember);
    for (const stream of [all, own]) stream.close();
  });
});

test('commands to agents are told of', async () => {
  const credential = await newCredential(account);
  const id = await openSession(gateway, credential);
  const { sessions } = gateway.app;
  gateway.app.sessions = { command: async () => 'done' };
  await account.call('POST', `/tunnel_sessions/${id}/update`, { version: '9.9.9' });
  gateway.app.sessions = sessions;
  expect(await history(id)).toMatchObject([
    {
      action: 'AGENT_UPDATED',
      kind: 'tunnelSession',
      after: { credential_id: credential.credentialId, version: '9.9.9' },
    },
  ]);
});

test('refused binds are told of with what was asked for and why, five times a minute', async () => {
  const { authtoken, credentialId } = await newCredential(account);
  const agent = await rawAgent(gateway);
  await agent.auth(authtoken);
  for (let i = 0; i < 7; i++) expect((await agent.bind(`${i}.not-ours.example.org`)).Error).not.toBe('');
  agent.close();
  const refused = async () => (await history(credentialId)).filter(({ action }) => action === 'BIND_REFUSED');
  await expect.poll(refused).toHaveLength(5);
  const [last] = await refused();
  const asked = {
    asked: expect.stringMatching(/ 4\.not-ours\.example\.org$/),
    reason: expect.stringContaining('4.not-ours'),
  };
  expect(last).toMatchObject({ source: 'AGENT', actorId: null, credentialId, ip: '127.0.0.1', after: asked });
});
