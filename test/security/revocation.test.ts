import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Change } from '../../src/store/changes/changes.ts';
import { eventually } from '../support/eventually.ts';
import {
  type Account,
  type Owner,
  onServer,
  sharedGateway,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway.ts';
import { endOf, subscribe } from '../support/gateway/sse.ts';

const REFUSED = { status: 401, body: { error_code: 'ERR_GATEWAY_203' } };

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

/** A new key, already used, so that it is remembered. */
async function usedKey(): Promise<{ id: string; key: string }> {
  const { body } = await account.call('POST', '/api_keys', {});
  expect((await account.call('GET', '/credentials', undefined, { key: body.token })).status).toBe(200);
  return { id: body.id, key: body.token };
}

const use = (key: string, by: TestGateway = gateway) => by.call('GET', '/credentials', undefined, { key });

test('a deleted API key is refused from the next request on, at both doors', async () => {
  const { id, key } = await usedKey();
  expect((await account.call('DELETE', `/api_keys/${id}`)).status).toBe(204);
  expect(await use(key)).toMatchObject(REFUSED);
  const graphql = await account.graphql('{ credentials { totalCount } }', {}, { key });
  expect(graphql.body.errors[0].extensions).toMatchObject({ code: 'UNAUTHENTICATED', errorCode: 'ERR_GATEWAY_203' });
});

test('a key may delete itself, and is refused then', async () => {
  const { id, key } = await usedKey();
  expect((await account.call('DELETE', `/api_keys/${id}`, undefined, { key })).status).toBe(204);
  expect(await use(key)).toMatchObject(REFUSED);
});

test('the keys of a deactivated user are refused from the next request on, and taken again when the user is back', async () => {
  const user = await account.addOwner();
  expect((await user.call('GET', '/credentials')).status).toBe(200);
  const change = (active: boolean) =>
    account.graphql(
      'mutation ($id: ID!, $active: Boolean!) { updateUser(id: $id, input: { active: $active }) { user { active } } }',
      {
        id: user.ownerId,
        active,
      },
    );
  expect((await change(false)).body).toEqual({ data: { updateUser: { user: { active: false } } } });
  expect(await user.call('GET', '/credentials')).toMatchObject(REFUSED);
  await change(true);
  expect((await user.call('GET', '/credentials')).status).toBe(200);
});

test('the keys of a deactivated bot user are refused from the next request on', async () => {
  const bot = await account.addOwner({ kind: 'BOT' });
  expect((await bot.call('GET', '/credentials')).status).toBe(200);
  expect((await account.call('PATCH', `/bot_users/${bot.ownerId}`, { active: false })).status).toBe(200);
  expect(await bot.call('GET', '/credentials')).toMatchObject(REFUSED);
});

test('an admin who was made a member has a member’s rights from the next request on', async () => {
  const user = await account.addOwner({ role: 'ADMIN' });
  expect((await user.call('POST', '/bot_users', { name: 'one' })).status).toBe(201);
  await account.graphql('mutation ($id: ID!) { updateUser(id: $id, input: { role: MEMBER }) { user { role } } }', {
    id: user.ownerId,
  });
  expect((await user.call('POST', '/bot_users', { name: 'two' })).status).toBe(403);
});

describe('a subscription whose end was not heard of', () => {
  const WATCH = 'subscription { credentialChanged { action } }';
  const byRevokedKey = (user: Owner) => gateway.app.prisma.apiKey.deleteMany({ where: { ownerId: user.ownerId } });
  const ways: [string, (user: Owner) => Promise<unknown>][] = [
    ['its key was deleted', byRevokedKey],
    [
      'the owner is inactive',
      ({ ownerId: id }) => gateway.app.prisma.owner.update({ where: { id }, data: { active: false } }),
    ],
    [
      'the owner has another role',
      ({ ownerId: id }) => gateway.app.prisma.owner.update({ where: { id }, data: { role: 'MEMBER' } }),
    ],
  ];

  test.each(ways)('ends, and says why, when listening begins anew: %s', async (_, change) => {
    const user = await account.addOwner({ role: 'ADMIN' });
    const stream = await subscribe(gateway.api, user.key, WATCH);
    const other = await subscribe(gateway.api, account.key, WATCH);
    await change(user);
    gateway.app.changes.reportGap();
    expect(await endOf(stream)).toBe('UNAUTHENTICATED ERR_GATEWAY_203');
    await account.call('POST', '/credentials');
    expect((await other.next()).data.credentialChanged.action).toBe('CREATED');
    other.close();
  });

  test('ends within a minute when nothing is heard at all', async () => {
    const user = await account.addOwner();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const stream = await subscribe(gateway.api, user.key, WATCH);
      await byRevokedKey(user);
      vi.advanceTimersByTime(60_000);
      expect(await endOf(stream)).toBe('UNAUTHENTICATED ERR_GATEWAY_203');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe.runIf(onServer)('in a second gateway on the same database', () => {
  let second: TestGateway;
  beforeAll(async () => {
    second = await startTestGateway({}, { place: gateway.place });
    // Only a process that hears of changes keeps keys at all.
    await eventually(async () => {
      const listening = await gateway.app.prisma.$queryRaw<object[]>`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gateway listener' AND query <> '' AND state = 'idle'`;
      expect(listening).toHaveLength(2);
    });
  });
  afterAll(() => second?.close());

  const heard = (test: (change: Change) => boolean) =>
    new Promise<void>((resolve) => {
      const stop = second.app.changes.listen((change) => {
        if (!test(change)) return;
        stop();
        resolve();
      });
    });

  test('a deleted API key is refused as soon as the deletion is heard there', async () => {
    const { id, key } = await usedKey();
    expect((await use(key, second)).status).toBe(200);
    const told = heard((change) => change.action === 'DELETED' && change.id === id);
    await account.call('DELETE', `/api_keys/${id}`);
    await told;
    expect(await use(key, second)).toMatchObject(REFUSED);
  });

  test('the keys of a deactivated user are refused as soon as it is heard there', async () => {
    const user = await account.addOwner();
    expect((await use(user.key, second)).status).toBe(200);
    const told = heard((change) => change.id === user.ownerId);
    await account.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { user { id } } }', { id: user.ownerId });
    await told;
    expect(await use(user.key, second)).toMatchObject(REFUSED);
  });
});
