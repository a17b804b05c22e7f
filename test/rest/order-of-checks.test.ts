// A request that breaks two rules gets the answer of the rule that comes first.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, type Owner, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

const TOO_LARGE = ' '.repeat(64 * 1024 + 1);
const RATE = 60;

let gateway: TestGateway;
let account: Account;
let member: Owner;
beforeAll(async () => {
  gateway = await startTestGateway({ RATE_LIMIT: String(RATE) });
  account = await gateway.newAccount();
  member = await account.addOwner();
});
afterAll(() => gateway.close());

test('an unknown path is said before an unknown method', async () => {
  expect(await account.call('PURGE', '/nothing')).toMatchObject({
    status: 404,
    body: { error_code: 'ERR_GATEWAY_90002' },
  });
});

test('an unknown method is said before a missing API key', async () => {
  const answer = await account.call('PUT', '/credentials', undefined, { key: null });
  expect(answer).toMatchObject({ status: 405, body: { error_code: 'ERR_GATEWAY_90003' } });
});

test('a missing API key is said before a missing version', async () => {
  const answer = await account.call('GET', '/credentials', undefined, {
    key: null,
    headers: { 'service-version': undefined },
  });
  expect(answer).toMatchObject({ status: 401, body: { error_code: 'ERR_GATEWAY_200' } });
});

test('a missing version is said before an exhausted rate, an exhausted rate before a wrong content type', async () => {
  const exhausted = await account.addOwner();
  const body = ['POST', '/credentials', 'x'] as const;
  const headers = { 'content-type': 'text/plain' };
  const noVersion = { ...headers, 'service-version': undefined };
  for (let used = 0; used < RATE; used++) await exhausted.call('GET', '/credentials');
  expect(await exhausted.call(...body, { headers: noVersion })).toMatchObject({
    status: 400,
    body: { error_code: 'ERR_GATEWAY_218' },
  });
  expect(await exhausted.call(...body, { headers })).toMatchObject({
    status: 429,
    body: { error_code: 'ERR_GATEWAY_226' },
  });
});

test('an If-Match is refused after the API key and the version, before the content type', async () => {
  const put = (headers: Record<string, string | undefined>, key?: null) =>
    account.call('POST', '/credentials', 'x', {
      ...(key === null && { key }),
      headers: { 'content-type': 'text/plain', 'if-match': '"1"', ...headers },
    });
  expect(await put({}, null)).toMatchObject({ status: 401, body: { error_code: 'ERR_GATEWAY_200' } });
  expect(await put({ 'service-version': undefined })).toMatchObject({
    status: 400,
    body: { error_code: 'ERR_GATEWAY_218' },
  });
  expect(await put({})).toMatchObject({ status: 412, body: { error_code: 'ERR_GATEWAY_90315' } });
});

test('a wrong content type is said before a body that is too large', async () => {
  const answer = await account.call('POST', '/credentials', TOO_LARGE, { headers: { 'content-type': 'text/plain' } });
  expect(answer).toMatchObject({ status: 415, body: { error_code: 'ERR_GATEWAY_210' } });
});

test('a body that is too large is said before one that is not JSON', async () => {
  expect(await account.call('POST', '/credentials', `{${TOO_LARGE}`)).toMatchObject({
    status: 413,
    body: { error_code: 'ERR_GATEWAY_90004' },
  });
});

test.each([
  ['broken JSON', '/bot_users', '{', 'ERR_GATEWAY_213'],
  ['an unknown query parameter', '/bot_users?color=red', '{"name":"x"}', 'ERR_GATEWAY_231'],
  ['an unknown member', '/bot_users', '{"name":"x","color":"red"}', 'ERR_GATEWAY_214'],
  ['a member of the wrong type', '/bot_users', '{"name":7}', 'ERR_GATEWAY_215'],
])('%s is said before the missing role', async (_, path, body, code) => {
  expect(await member.call('POST', path, body)).toMatchObject({ status: 400, body: { error_code: code } });
});

test('a missing role is said before what only the resolver finds', async () => {
  const answer = await member.call('POST', '/bot_users', { name: '' });
  expect(answer).toMatchObject({ status: 403, body: { error_code: 'ERR_GATEWAY_4111' } });
});

test.each([['/nothing'], ['/Credentials'], ['/credentials/%ZZ'], ['/credentials/cr_1/more'], ['/graphql/more']])(
  '%s is not a path',
  async (path) => {
    expect(await account.call('GET', path)).toMatchObject({ status: 404, body: { error_code: 'ERR_GATEWAY_90002' } });
  },
);

test('a path says which methods it takes', async () => {
  const list = await account.call('DELETE', '/credentials');
  expect(list.status).toBe(405);
  expect(list.headers.allow?.split(', ').sort()).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST']);
  const one = await account.call('OPTIONS', '/credentials/any', undefined, { key: null });
  expect(one).toMatchObject({ status: 204, text: '' });
  expect(one.headers.allow?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH']);
});

test('HEAD answers as GET does, without the body', async () => {
  const get = await account.call('GET', '/credentials');
  const head = await account.call('HEAD', '/credentials');
  expect(head).toMatchObject({ status: 200, text: '' });
  for (const name of ['content-type', 'content-length', 'cache-control'])
    expect(head.headers[name]).toBe(get.headers[name]);
  expect(await account.call('HEAD', '/credentials', undefined, { key: null })).toMatchObject({ status: 401, text: '' });
});
