// Provisioning keys: how many devices get a credential of their own with one.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSession } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { shortened } from '../support/shortened.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  account = await gateway.newAccount();
});

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer, the test says.
type Body = any;

async function create(input: object = {}, by: Pick<Account, 'graphql'> = account): Promise<Body> {
  const query = `mutation ($input: CreateProvisioningKeyInput!) {
    createProvisioningKey(input: $input) { provisioningKey { id acl labels uses usesMax expiresAt revokedAt ownerId } token } }`;
  return (await by.graphql(query, { input })).body;
}

async function newKey(input: object = {}): Promise<{ id: string; token: string }> {
  const { provisioningKey, token } = (await create(input)).data.createProvisioningKey;
  return { id: provisioningKey.id, token };
}

let devices = 0;
const newDeviceId = () => `device-${String(++devices).padStart(20, '0')}`;

/** Asks as a device does, which has no API key. */
async function exchange(provisioningKey: string, more: object = {}): Promise<Body> {
  const query = `mutation ($input: ExchangeProvisioningKeyInput!) {
    exchangeProvisioningKey(input: $input) { credentialId authtoken } }`;
  const input = { provisioningKey, deviceId: newDeviceId(), hostName: 'press', ...more };
  return (await gateway.graphql(query, { input }, { key: null })).body;
}

const errorOf = ({ errors }: Body) => errors?.[0].extensions;
const grantOf = ({ data }: Body) => gateway.registrar.authenticate(data.exchangeProvisioningKey.authtoken);

async function shown(id: string, fields: string): Promise<Body> {
  const { body } = await account.graphql(`query ($id: ID!) { provisioningKey(id: $id) { ${fields} } }`, { id });
  expect(body.errors).toBeUndefined();
  return body.data.provisioningKey;
}

test('a key gives a device a credential of its own, with its name in the rules, and labels the agent', async () => {
  const acl = ['bind:{hostname}.devices.example.com', 'bind:device={name}'];
  const { id, token } = await newKey({ acl, labels: { site: 'berlin' }, description: 'presses' });
  expect(await shown(id, 'uses lastUsedAt acl')).toEqual({ uses: 0, lastUsedAt: null, acl });
  const answer = await exchange(token, { name: 'Press-7', hostName: 'PRESS7.local' });
  const { credentialId } = answer.data.exchangeProvisioningKey;
  expect(await grantOf(answer)).toMatchObject({
    ...{ credentialId, accountId: account.accountId, acl: ['bind:press7.devices.example.com', 'bind:device=press-7'] },
  });
  const { body } = await account.call('GET', `/credentials/${credentialId}`);
  expect(body).toMatchObject({ description: 'Press-7', owner_id: account.ownerId, token: null });
  await openSession(gateway, { accountId: account.accountId, credentialId });
  const agents = await account.graphql('{ agents { nodes { labels } } }');
  expect(agents.body.data.agents.nodes).toEqual([{ labels: { site: 'berlin' } }]);
  expect(await shown(id, 'uses lastUsedAt credentials { nodes { id } }')).toEqual({
    ...{ uses: 1, lastUsedAt: expect.any(String), credentials: { nodes: [{ id: credentialId }] } },
  });
});

test('a device that lost the answer gets a new authtoken in place of the old, and no further use is counted', async () => {
  const { id, token } = await newKey({ usesMax: 1 });
  const deviceId = newDeviceId();
  const [lost, kept] = [await exchange(token, { deviceId }), await exchange(token, { deviceId })];
  expect(kept.data.exchangeProvisioningKey.credentialId).toBe(lost.data.exchangeProvisioningKey.credentialId);
  expect(await grantOf(lost)).toEqual({ refused: 'authtokenUnknown' });
  expect(await grantOf(kept)).toMatchObject({
    credentialId: kept.data.exchangeProvisioningKey.credentialId,
  });
  expect(await shown(id, 'uses')).toEqual({ uses: 1 });
  expect(errorOf(await exchange(token))).toMatchObject({ code: 'FORBIDDEN', status: 403 });
});

test.each(
  shortened([
    [40, 30],
    [200, 150],
  ]),
)(
  'of %i devices that come at once, as many get a credential as may: %i',
  async (count, usesMax) => {
    const { id, token } = await newKey({ usesMax });
    const answers = await Promise.all(Array.from({ length: count }, () => exchange(token)));
    const given = answers.flatMap(({ data }) => data?.exchangeProvisioningKey?.credentialId ?? []);
    expect(new Set(given).size).toBe(usesMax);
    expect(answers.filter((answer) => errorOf(answer)?.code === 'FORBIDDEN')).toHaveLength(count - usesMax);
    expect(await shown(id, 'uses')).toEqual({ uses: usesMax });
  },
  60_000,
);

describe('a key is refused', () => {
  test('that nobody has, that has expired or was revoked, and whose owner is not active', async () => {
    const { body } = await account.graphql(
      'mutation { createProvisioningKey(input: {}) { provisioningKey { id } token } }',
    );
    const { provisioningKey, token } = body.data.createProvisioningKey;
    const { id } = provisioningKey;
    for (const unknown of [
      '',
      'x',
      `${token.slice(0, -1)}_`,
      token.replace(/.$/, (last: string) => (last === 'a' ? 'b' : 'a')),
    ])
      expect(errorOf(await exchange(unknown))).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    const where = { id };
    const { prisma } = gateway.app;
    await prisma.provisioningKey.update({ where, data: { expiresAt: new Date(Date.now() - 1000) } });
    expect(errorOf(await exchange(token))).toMatchObject({ code: 'FORBIDDEN' });
    await prisma.provisioningKey.update({ where, data: { expiresAt: null } });
    expect(errorOf(await exchange(token))).toBeUndefined();
    await account.graphql('mutation ($id: ID!) { revokeProvisioningKey(id: $id) { provisioningKey { revokedAt } } }', {
      id,
    });
    expect(errorOf(await exchange(token))).toMatchObject({ code: 'FORBIDDEN' });

    const member = await account.addOwner({ role: 'MEMBER' });
    const theirs = (await create({}, member)).data.createProvisioningKey;
    await prisma.owner.update({ where: { id: member.ownerId }, data: { active: false } });
    expect(errorOf(await exchange(theirs.token))).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('to a device whose id or name is not right', async () => {
    const { token } = await newKey({ acl: ['bind:{name}.example.com'] });
    expect(errorOf(await exchange(token, { deviceId: 'short' }))).toMatchObject({ field: 'deviceId' });
    for (const name of [undefined, '', '*', 'a.b', 'a b', '-a', 'x'.repeat(64)])
      expect(errorOf(await exchange(token, { name })), String(name)).toMatchObject({
        code: 'BAD_USER_INPUT',
        field: 'name',
      });
    expect(errorOf(await exchange(token, { name: 'a' }))).toBeUndefined();
  });
});

test.each([
  [{ acl: ['bind:{host}.example.com'] }, 'acl[0]'],
  [{ acl: ['bind:x.example.com', 'bind:{name'] }, 'acl[1]'],
  [{ labels: { 'a=b': 'c' } }, 'labels'],
  [{ usesMax: 0 }, 'usesMax'],
  [{ validHours: 87_601 }, 'validHours'],
])('a key cannot be made with %j', async (input, field) => {
  expect(errorOf(await create(input))).toMatchObject({ code: 'BAD_USER_INPUT', field });
});

test('the credentials of a key outlive it, and are ended all at once', async () => {
  const { id, token } = await newKey({ validHours: 1 });
  const answers = [await exchange(token), await exchange(token)];
  await account.graphql('mutation ($id: ID!) { revokeProvisioningKey(id: $id) { provisioningKey { id } } }', { id });
  for (const answer of answers) expect(await grantOf(answer)).toHaveProperty('credentialId');
  const end = 'mutation ($id: ID!) { endProvisionedCredentials(id: $id) { ended { ended remaining } } }';
  const { body } = await account.graphql(end, { id });
  expect(body.data.endProvisionedCredentials.ended).toEqual({ ended: 2, remaining: 0 });
  for (const answer of answers) expect(await grantOf(answer)).toEqual({ refused: 'authtokenUnknown' });
  expect(await shown(id, 'uses credentials { totalCount nodes { id } }')).toEqual({
    ...{ uses: 2, credentials: { totalCount: 0, nodes: [] } },
  });
});
