// What the headers of a REST request must say: who, which version, how often, what kind of body.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/api/route.ts';
import { newId, newSecret } from '../../src/store/ids.ts';
import { FOREIGN_ERROR_PREFIX } from '../../src/tunnel/control/compatibility.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

const RATE = 60;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await startTestGateway({
    VERSION_HEADER_ALIASES: 'Other-Version, Third-Version',
    RATE_LIMIT: String(RATE),
  });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

describe('the API key', () => {
  const authtoken = async () => (await account.call('POST', '/credentials')).body.token as string;
  const revoked = async () => {
    const { body } = await account.call('POST', '/api_keys', {});
    await account.call('DELETE', `/api_keys/${body.id}`);
    return body.token as string;
  };
  const inactive = async () => {
    const owner = await account.addOwner();
    await gateway.app.prisma.owner.update({ where: { id: owner.ownerId }, data: { active: false } });
    return owner.key;
  };
  const id = async () => (await account.call('POST', '/api_keys', {})).body.id as string;

  test.each<[string, number, () => string | undefined | Promise<string | undefined>]>([
    ['no header', 200, () => undefined],
    ['another scheme', 201, () => 'Basic dXNlcjpwYXNz'],
    ['a scheme alone', 201, () => 'Bearer'],
    ['two words', 201, () => `Bearer ${account.key} more`],
    ['a text that is no key', 202, () => 'Bearer short'],
    ['a key that never was', 203, () => `Bearer ${newSecret(newId('ak'))}`],
    ['a revoked key', 203, async () => `Bearer ${await revoked()}`],
    ['the key of an inactive owner', 203, async () => `Bearer ${await inactive()}`],
    ['an authtoken', 206, async () => `Bearer ${await authtoken()}`],
    ['the id of a key', 208, async () => `Bearer ${await id()}`],
  ])('is refused: %s', async (_, number, header) => {
    const answer = await account.call('GET', '/credentials', undefined, {
      key: null,
      headers: { authorization: await header() },
    });
    expect(answer).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringMatching(/^Bearer/) },
      body: { error_code: `ERR_GATEWAY_${number}` },
    });
  });

  test('is taken whatever the case of "bearer"', async () => {
    const headers = { authorization: `bearer  ${account.key}` };
    expect((await account.call('GET', '/credentials', undefined, { key: null, headers })).status).toBe(200);
  });
});

describe('the version', () => {
  const ask = (headers: Record<string, string | undefined>, dialect?: Dialect) =>
    account.call('GET', '/credentials', undefined, { dialect, headers: { 'service-version': undefined, ...headers } });

  test('is required', async () => {
    expect(await ask({})).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_218' } });
  });
  test.each(['0', '1', '3', '2.0', 'two', '', '2, 2'])('is not %j', async (version) => {
    expect(await ask({ 'service-version': version })).toMatchObject({
      status: 400,
      body: { error_code: 'ERR_GATEWAY_217' },
    });
  });
  test('may stand in a header that the configuration names', async () => {
    expect((await ask({ 'other-version': '2' })).status).toBe(200);
    expect((await ask({ 'third-version': '2' })).status).toBe(200);
    const wrong = await ask({ 'other-version': undefined, 'third-version': '1' }, 'extended');
    expect(wrong.body.error_code).toBe(`${FOREIGN_ERROR_PREFIX}217`);
    expect((await ask({ 'fourth-version': '2' })).body.error_code).toBe('ERR_GATEWAY_218');
  });
  test('in its own header counts before one in another', async () => {
    expect((await ask({ 'service-version': '1', 'other-version': '2' })).status).toBe(400);
  });
  test('is not required of GET / and /openapi.json, nor is a key', async () => {
    for (const path of ['/', '/openapi.json']) {
      const answer = await account.call('GET', path, undefined, {
        key: null,
        headers: { 'service-version': undefined },
      });
      expect(answer.status).toBe(200);
    }
  });
});

test('a key that has used up its minute is told when to come back, other keys are not', async () => {
  const { call } = await account.addOwner();
  const rate = { 'ratelimit-limit': String(RATE) };
  const first = await call('GET', '/credentials');
  expect(first).toMatchObject({ status: 200, headers: { ...rate, 'ratelimit-remaining': String(RATE - 1) } });
  expect(Number(first.headers['ratelimit-reset'])).toBeGreaterThan(0);
  for (let used = 1; used < RATE; used++) expect((await call('GET', '/credentials')).status).toBe(200);
  const refused = await call('GET', '/credentials');
  expect(refused).toMatchObject({
    status: 429,
    headers: { ...rate, 'ratelimit-remaining': '0' },
    body: { error_code: 'ERR_GATEWAY_226', status_code: 429 },
  });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  const other = await account.addOwner();
  expect((await other.call('GET', '/credentials')).status).toBe(200);
});

test('a key that has used up its minute is refused at the GraphQL door as well', async () => {
  const { call, graphql } = await account.addOwner();
  for (let used = 0; used < RATE; used++) await call('GET', '/credentials');
  const refused = await graphql('{ credentials { totalCount } }');
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': expect.any(String) },
    body: { errors: [{ extensions: { code: 'RATE_LIMITED', status: 429, errorCode: 'ERR_GATEWAY_226' } }] },
  });
});

describe('the content type', () => {
  const send = (type: string | undefined, more = {}) =>
    account.call('POST', '/credentials', '{}', { headers: { 'content-type': type, ...more } });

  test('is required of a body', async () => {
    expect(await send(undefined)).toMatchObject({ status: 415, body: { error_code: 'ERR_GATEWAY_216' } });
  });
  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json; charset=latin1',
    'application/json, text/plain',
  ])('is not %s', async (type) => {
    expect(await send(type)).toMatchObject({ status: 415, body: { error_code: 'ERR_GATEWAY_210' } });
  });
  test.each(['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"'])(
    'may be %s',
    async (type) => {
      expect((await send(type)).status).toBe(201);
    },
  );
  test('does not come compressed', async () => {
    expect((await send('application/json', { 'content-encoding': 'gzip' })).status).toBe(415);
  });
});

describe('the body', () => {
  const padded = (bytes: number) => `{}${' '.repeat(bytes - 2)}`;

  test('may take 64 KiB and no more, however it is sent', async () => {
    const chunked = { headers: { 'transfer-encoding': 'chunked' } };
    expect((await account.call('POST', '/credentials', padded(65_536))).status).toBe(201);
    expect((await account.call('POST', '/credentials', padded(65_536), chunked)).status).toBe(201);
    expect((await account.call('POST', '/credentials', padded(65_537))).status).toBe(413);
    expect((await account.call('POST', '/credentials', padded(65_537), chunked)).status).toBe(413);
  });
  test('of a POST or a PATCH may be missing, and then is {}', async () => {
    const created = await account.call('POST', '/credentials');
    expect(created.status).toBe(201);
    expect((await account.call('PATCH', `/credentials/${created.body.id}`)).status).toBe(200);
  });
  test.each([
    ['GET', '{}'],
    ['DELETE', '{"force":true}'],
    ['DELETE', '[]'],
  ])('of a %s is refused: %s', async (method, sent) => {
    const { body } = await account.call('POST', '/credentials');
    const answer = await account.call(method, `/credentials/${body.id}`, sent);
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_211' } });
  });
  test.each(['{}', ' { }\n', ''])('of a DELETE may be an empty object: %j', async (sent) => {
    const { body } = await account.call('POST', '/credentials');
    const chunked = { headers: { 'transfer-encoding': 'chunked' } };
    expect((await account.call('DELETE', `/credentials/${body.id}`, sent, chunked)).status).toBe(204);
  });
});

test('a request that breaks HTTP itself is refused and does no harm', async () => {
  const head = `POST /credentials HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\nService-Version: 2\r\n`;
  const both =
    'Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
  expect(await gateway.raw(head + both)).toMatch(/^HTTP\/1\.1 400 /);
  expect((await account.call('GET', '/credentials')).status).toBe(200);
});

describe('a precondition', () => {
  let id: string;
  let other: Account;
  beforeAll(async () => {
    other = await gateway.newAccount();
    id = (await other.call('POST', '/credentials', { description: 'before' })).body.id;
  });
  const ask = (method: string, path: string, body: object | undefined, headers: Record<string, string>) =>
    other.call(method, path, body, { headers });

  test.each([
    ['POST', '/credentials', {}],
    ['PATCH', '/credentials/{id}', { description: 'after' }],
    ['DELETE', '/credentials/{id}', undefined],
    ['PUT', '/edges/tls/{id}/mutual_tls', {}],
    ['GET', '/credentials/{id}', undefined],
    ['HEAD', '/credentials/{id}', undefined],
    ['GET', '/export/credentials', undefined],
  ])('of an entity tag has %s %s do nothing', async (method, path, body) => {
    for (const tag of ['"1"', 'W/"1"', '"*"', '*, "1"', '']) {
      const answer = await ask(method, path.replace('{id}', id), body, { 'if-match': tag });
      expect(answer.status, tag).toBe(412);
      if (method !== 'HEAD') expect(answer.body.error_code).toBe('ERR_GATEWAY_90315');
    }
    const { credentials } = (await other.call('GET', '/credentials')).body;
    expect(credentials.map(({ description }: { description: string }) => description)).toEqual(['before']);
  });

  test('of any entity tag, or of a date, does not matter', async () => {
    const past = 'Sat, 01 Jan 2000 00:00:00 GMT';
    for (const [method, headers] of [
      ['PATCH', { 'if-match': '*' }],
      ['PATCH', { 'if-match': ' * ' }],
      ['PATCH', { 'if-unmodified-since': past }],
      ['PATCH', { 'if-none-match': '"1"' }],
    ] as const)
      expect((await ask(method, `/credentials/${id}`, { metadata: 'x' }, headers)).status).toBe(200);
  });

  test('has nothing to go by: no answer has an entity tag or a date of modification', async () => {
    const { headers } = await other.call('GET', `/credentials/${id}`);
    expect([headers.etag, headers['last-modified']]).toEqual([undefined, undefined]);
    const { text } = await gateway.call('GET', '/openapi.json');
    expect(text).not.toMatch(/etag|if-match/i);
  });
});
