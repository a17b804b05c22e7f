import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

const HOUR_MS = 60 * 60 * 1000;

let gateway: TestGateway;
let account: Account;
let now = Date.now();
beforeAll(async () => {
  gateway = await startTestGateway({}, { now: () => now });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

const post = (key: string, body: unknown = {}, { call } = account, path = '/credentials') =>
  call('POST', path, body, { headers: { 'idempotency-key': key } });
const count = async () => (await account.graphql('{ credentials { totalCount } }')).body.data.credentials.totalCount;

test('the same request with the same key gets the same answer, byte for byte, and does nothing', async () => {
  const body = { description: 'once', acl: ['bind:x=y'] };
  const first = await post('same', body);
  const before = await count();
  const again = await post('same', body);
  expect(first).toMatchObject({ status: 201, body: { token: expect.any(String) } });
  expect(again.status).toBe(201);
  expect(again.text).toBe(first.text);
  expect(await count()).toBe(before);
  expect(again.headers['service-operation-id']).not.toBe(first.headers['service-operation-id']);
});

test('the same values in another order of members are the same request', async () => {
  const first = await post('order', '{"description":"a","metadata":"b"}');
  expect((await post('order', ' {"metadata":"b", "description":"a"}')).text).toBe(first.text);
});

test('another body or another path under the same key is refused', async () => {
  await post('reused', { description: 'a' });
  const before = await count();
  const refused = { status: 409, body: { error_code: 'ERR_GATEWAY_90010' } };
  expect(await post('reused', { description: 'b' })).toMatchObject(refused);
  expect(await post('reused', {})).toMatchObject(refused);
  expect(await post('reused', { description: 'a' }, account, '/api_keys')).toMatchObject(refused);
  expect(await count()).toBe(before);
});

test('a key is forgotten after 24 hours, and not before', async () => {
  const first = await post('day');
  now += 24 * HOUR_MS - 1000;
  expect((await post('day')).text).toBe(first.text);
  now += 1000;
  const later = await post('day');
  expect(later.status).toBe(201);
  expect(later.body.id).not.toBe(first.body.id);
  expect((await post('day')).text).toBe(later.text);
});

test('of requests with one key at the same time, one creates and all get its answer', async () => {
  const before = await count();
  const answers = await Promise.all(Array.from({ length: 12 }, () => post('together', { description: 'one' })));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(await count()).toBe(before + 1);
});

test('a request that fails leaves its key unused', async () => {
  expect((await post('failed', { acl: ['nonsense'] })).status).toBe(400);
  expect((await post('failed', { description: 'x'.repeat(256) })).status).toBe(400);
  expect((await post('failed', { owner_id: 'nobody' })).status).toBe(400);
  const right = await post('failed', { description: 'right' });
  expect(right.status).toBe(201);
  expect((await post('failed', { description: 'right' })).text).toBe(right.text);
});

test('a key is its caller’s own: nobody else gets the answer, within the account or outside', async () => {
  const first = await post('own', {});
  for (const other of [await account.addOwner(), await gateway.newAccount()]) {
    const answer = await post('own', {}, { ...account, ...other });
    expect(answer.status).toBe(201);
    expect(answer.body.id).not.toBe(first.body.id);
    expect(answer.text).not.toContain(first.body.token);
  }
});

test('the answer that is kept shows no token to who reads the database', async () => {
  const { body } = await post('sealed', { description: 'sealed' });
  const rows = await gateway.app.prisma.$queryRaw<object[]>`SELECT * FROM idempotent_answer`;
  const credentials = await gateway.app.prisma.$queryRaw<object[]>`SELECT * FROM credential`;
  const stored = JSON.stringify([rows, credentials]);
  expect(stored).toContain('sealed');
  expect(stored).not.toContain(body.token);
  expect(stored).not.toContain(body.token.split('_')[1]);
  // Base64 of a text begins at one of three places.
  for (const padding of ['', ' ', '  ']) {
    const encoded = Buffer.from(padding + body.token.split('_')[1])
      .toString('base64url')
      .slice(4, 24);
    expect(stored).not.toContain(encoded);
  }
});

describe('a key', () => {
  test.each([
    ['is not empty', ''],
    ['has at most 255 characters', 'k'.repeat(256)],
    ['has printable characters only', 'a\tb'],
    ['has ASCII characters only', 'cl\u00e9'],
  ])('%s', async (_, key) => {
    const before = await count();
    expect(await post(key)).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90009' } });
    expect(await count()).toBe(before);
  });

  test('may have 255 characters', async () => {
    expect((await post('k'.repeat(255))).status).toBe(201);
  });
});
