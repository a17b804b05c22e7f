// When an API key was last used.

import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ApiKeyUsageWriter } from '../../src/api/http/api-key-usage.ts';
import { newId } from '../../src/store/ids.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace } from '../support/gateway/place.ts';
import { subscribe } from '../support/gateway/sse.ts';

const start = Date.parse('2026-11-21T09:00:41Z');
let now = start;
let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await startTestGateway({ NODE_LEASE_MS: '600000' }, { now: () => now, counting: true });
  account = await gateway.newAccount();
});
afterEach(() => {
  now = start;
});
afterAll(() => gateway?.close());

async function newKey(): Promise<{ id: string; key: string }> {
  const { body } = await account.call('POST', '/api_keys', {});
  return { id: body.id, key: body.token };
}

/** What the API tells once all that was noted is written. */
async function lastUsed(id: string, by: TestGateway = gateway): Promise<string | null> {
  await by.app.apiKeyUsage.flush();
  const { body } = await by.graphql(
    'query ($id: ID!) { apiKey(id: $id) { lastUsedAt } }',
    { id },
    { key: account.key },
  );
  expect(body.errors).toBeUndefined();
  return body.data.apiKey.lastUsedAt;
}

const use = (key: string) => gateway.call('GET', '/credentials', undefined, { key });
const writes = () => gateway.statements.filter((statement) => /UPDATE api_key SET last_used_at/.test(statement));

test('a key that was never used says so; one that was tells the minute', async () => {
  const { id, key } = await newKey();
  expect(await lastUsed(id)).toBeNull();
  await use(key);
  expect(await lastUsed(id)).toBe('2026-11-21T09:00:00.000Z');
  now += 20_000;
  await use(key);
  expect(await lastUsed(id)).toBe('2026-11-21T09:01:00.000Z');
});

test('both doors count, and subscriptions', async () => {
  const ask = [
    (key: string) => account.call('GET', '/credentials?limit=1', undefined, { key }),
    (key: string) => account.graphql('{ credentials { totalCount } }', {}, { key }),
    (key: string) =>
      subscribe(gateway.api, key, 'subscription { changes { changes { objectId } } }').then((one) => one.close()),
  ];
  for (const request of ask) {
    const { id, key } = await newKey();
    await request(key);
    expect(await lastUsed(id)).toBe('2026-11-21T09:00:00.000Z');
  }
});

test('a key is written once a minute however often it is used, together with others', async () => {
  const keys = [await newKey(), await newKey(), await newKey()];
  await gateway.app.apiKeyUsage.flush();
  gateway.statements.length = 0;
  for (let round = 0; round < 10; round++) for (const { key } of keys) await use(key);
  for (const { id } of keys) expect(await lastUsed(id)).toBe('2026-11-21T09:00:00.000Z');
  expect(writes()).toHaveLength(1);
  for (const { key } of keys) await use(key);
  await gateway.app.apiKeyUsage.flush();
  expect(writes()).toHaveLength(1);
});

test('no request waits for it: it is written three seconds later, in one go', async () => {
  const { id } = await newKey();
  const scheduled: { ms: number; work: () => void }[] = [];
  const own = new ApiKeyUsageWriter(
    gateway.app.prisma,
    () => now,
    pino({ level: 'silent' }),
    (ms, work) => {
      scheduled.push({ ms, work });
      return () => {};
    },
  );
  const stored = async () => (await gateway.app.prisma.apiKey.findUniqueOrThrow({ where: { id } })).lastUsedAt;
  own.recordUse(id);
  own.recordUse((await newKey()).id);
  expect(await stored()).toBeNull();
  expect(scheduled).toMatchObject([{ ms: 3000 }]);
  scheduled[0]?.work();
  await own.flush();
  expect(await stored()).toEqual(new Date('2026-11-21T09:00:00Z'));
});

test('an older minute never takes the place of a newer one, as of a process whose clock is behind', async () => {
  const { id, key } = await newKey();
  now += 3_600_000;
  await use(key);
  await gateway.app.apiKeyUsage.flush();
  now = start;
  await use(key);
  expect(await lastUsed(id)).toBe('2026-11-21T10:00:00.000Z');
});

test('a stop writes what was noted', async () => {
  const place = await newPlace();
  const first = await startTestGateway({}, { place, now: () => now });
  const { body } = await first.call('POST', '/api_keys', {});
  await first.call('GET', '/credentials', undefined, { key: body.token });
  await first.close();
  const second = await startTestGateway({}, { place, now: () => now + 3_600_000 });
  const answer = await second.graphql('query ($id: ID!) { apiKey(id: $id) { lastUsedAt } }', { id: body.id });
  expect(answer.body.data).toEqual({ apiKey: { lastUsedAt: '2026-11-21T09:00:00.000Z' } });
  await second.close();
  await place.remove();
});

test('it is no change and no event, and REST does not show it', async () => {
  const { id, key } = await newKey();
  const told: unknown[] = [];
  const stop = gateway.app.changes.listen((change) => told.push(change));
  await use(key);
  await gateway.app.apiKeyUsage.flush();
  stop();
  expect(told).toEqual([]);
  const { body } = await account.call('GET', `/api_keys/${id}`);
  expect(Object.keys(body)).not.toContain('last_used_at');
});

test('a refused key is not used', async () => {
  const { id, key } = await newKey();
  await account.call('DELETE', `/api_keys/${id}`);
  expect((await use(key)).status).toBe(401);
  gateway.statements.length = 0;
  await gateway.app.apiKeyUsage.flush();
  expect(writes()).toHaveLength(0);
});

test('a key that is deleted meanwhile, and one that never was, harm nobody', async () => {
  const [kept, gone] = [await newKey(), await newKey()];
  await use(gone.key);
  await use(kept.key);
  await account.call('DELETE', `/api_keys/${gone.id}`);
  gateway.app.apiKeyUsage.recordUse(newId('ak'));
  expect(await lastUsed(kept.id)).toBe('2026-11-21T09:00:00.000Z');
});

test('what cannot be written is logged, and no request fails for it', async () => {
  const { id, key } = await newKey();
  const { prisma } = gateway.app;
  await prisma.$executeRaw`ALTER TABLE api_key RENAME COLUMN last_used_at TO last_used_hidden`;
  try {
    gateway.app.apiKeyUsage.recordUse(id);
    await gateway.app.apiKeyUsage.flush();
  } finally {
    await prisma.$executeRaw`ALTER TABLE api_key RENAME COLUMN last_used_hidden TO last_used_at`;
  }
  expect(await gateway.logged(({ msg }) => msg === 'last use of API keys could not be saved')).toMatchObject({
    level: 40,
  });
  expect((await use(key)).status).toBe(200);
  now += 60_000;
  await use(key);
  expect(await lastUsed(id)).toBe('2026-11-21T09:01:00.000Z');
});
