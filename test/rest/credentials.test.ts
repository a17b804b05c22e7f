import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

const MEMBERS = ['id', 'uri', 'created_at', 'description', 'metadata', 'token', 'acl', 'owner_id'];

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

const create = async (body: object = {}) => (await account.call('POST', '/credentials', body)).body;

test('a credential has exactly the documented members', async () => {
  const given = { description: 'laptop', metadata: '{"site":"berlin"}', acl: ['bind:*.example.com', 'bind:app=shop'] };
  const created = await account.call('POST', '/credentials', given);
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    ...given,
    id: expect.stringMatching(/^cr_[0-9A-Za-z]{27}$/),
    uri: `${gateway.api}/credentials/${created.body.id}`,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    token: expect.any(String),
    owner_id: account.ownerId,
  });
  const fetched = await account.call('GET', created.body.uri);
  expect(fetched).toMatchObject({ status: 200, body: { ...created.body, token: null } });
  expect(Object.keys(fetched.body).sort()).toEqual([...MEMBERS].sort());
});

test('what was not given is an empty text, an empty list, the caller', async () => {
  const nothing = { description: '', metadata: '', acl: [], owner_id: account.ownerId };
  expect(await create()).toMatchObject(nothing);
  expect(await create({ description: null, metadata: null, acl: null, owner_id: null })).toMatchObject(nothing);
  expect(await create({ description: '', metadata: '', acl: [], owner_id: '' })).toMatchObject(nothing);
});

test('the token is shown once, in the answer to the creation', async () => {
  const { id, token } = await create();
  expect(token).toMatch(new RegExp(`^${id.slice(3)}_[0-9A-Za-z]{22,}$`));
  const answers = [
    await account.call('GET', `/credentials/${id}`),
    await account.call('PATCH', `/credentials/${id}`, { description: 'new' }),
    await account.call('GET', '/credentials'),
  ];
  const inGraphql = [
    await account.graphql(`{ credential(id: "${id}") { id } node(id: "${id}") { ... on Credential { description } } }`),
    await account.graphql(`mutation { updateCredential(id: "${id}", input: {}) { credential { id } } }`),
  ];
  for (const { text } of [...answers, ...inGraphql]) {
    expect(text).toContain(id);
    expect(text).not.toContain(token);
  }
  for (const { text } of answers) expect(text).toContain('"token":null');
});

describe('PATCH', () => {
  const before = { description: 'a', metadata: 'b', acl: ['bind:x=y'] };
  test.each([
    [{}, before],
    [{ description: null, metadata: null, acl: null }, before],
    [{ description: 'new' }, { ...before, description: 'new' }],
    [{ metadata: 'new' }, { ...before, metadata: 'new' }],
    [{ acl: ['*'] }, { ...before, acl: ['*'] }],
    [{ description: '' }, { ...before, description: '' }],
    [{ metadata: '' }, { ...before, metadata: '' }],
    [{ acl: [] }, { ...before, acl: [] }],
    [
      { description: '', metadata: '', acl: [] },
      { description: '', metadata: '', acl: [] },
    ],
  ])('of %j leaves everything else as it is', async (change, after) => {
    const { id, token: _, ...rest } = await create(before);
    const expected = { ...rest, ...after, id, token: null };
    expect(await account.call('PATCH', `/credentials/${id}`, change)).toMatchObject({ status: 200, body: expected });
    expect((await account.call('GET', `/credentials/${id}`)).body).toEqual(expected);
  });

  test('takes no owner', async () => {
    const { id } = await create();
    const answer = await account.call('PATCH', `/credentials/${id}`, { owner_id: account.ownerId });
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_214' } });
  });
});

// é is two bytes, 😀 four.
describe.each([
  [
    'description',
    255,
    604,
    [`${'é'.repeat(127)}x`, `${'😀'.repeat(63)}xyz`],
    ['é'.repeat(128), '😀'.repeat(64), 'x'.repeat(256)],
  ],
  ['metadata', 4096, 605, ['é'.repeat(2048), '😀'.repeat(1024)], [`${'é'.repeat(2048)}x`, 'x'.repeat(4097)]],
])('%s may take %i bytes', (member, max, number, fitting, tooLong) => {
  test('and not one more, whatever its characters, on creation and on a change', async () => {
    for (const text of fitting) {
      expect(Buffer.byteLength(text)).toBe(max);
      const { id, [member]: stored } = await create({ [member]: text });
      expect(stored).toBe(text);
      expect((await account.call('PATCH', `/credentials/${id}`, { [member]: text })).status).toBe(200);
    }
    const { id } = await create();
    for (const text of tooLong) {
      const expected = {
        status: 400,
        body: { error_code: `ERR_GATEWAY_${number}`, msg: expect.stringContaining(`${max} bytes`) },
      };
      expect(await account.call('POST', '/credentials', { [member]: text })).toMatchObject(expected);
      expect(await account.call('PATCH', `/credentials/${id}`, { [member]: text })).toMatchObject(expected);
    }
  });
});

test('an ACL rule that is not of the grammar is named, and nothing is created or changed', async () => {
  const { id } = await create({ acl: ['*'] });
  const { body: before } = await account.call('GET', '/credentials');
  const acl = ['bind:example.com', 'bind:*example.com'];
  const refused = { status: 400, body: { error_code: 'ERR_GATEWAY_600', msg: expect.stringMatching(/^acl\[1\]/) } };
  expect(await account.call('POST', '/credentials', { acl })).toMatchObject(refused);
  expect(await account.call('PATCH', `/credentials/${id}`, { acl })).toMatchObject(refused);
  expect((await account.call('GET', '/credentials')).body).toEqual(before);
});

test('an ACL may have 500 rules, not 501', async () => {
  const rules = Array.from({ length: 501 }, (_, index) => `bind:${index}.example.com`);
  expect((await create({ acl: rules.slice(1) })).acl).toEqual(rules.slice(1));
  const answer = await account.call('POST', '/credentials', { acl: rules });
  expect(answer).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90028' } });
});

test('a deleted credential is gone', async () => {
  const { id } = await create();
  expect(await account.call('DELETE', `/credentials/${id}`)).toMatchObject({ status: 204, text: '' });
  for (const method of ['GET', 'PATCH', 'DELETE'])
    expect(await account.call(method, `/credentials/${id}`)).toMatchObject({
      status: 404,
      body: { error_code: 'ERR_GATEWAY_90020' },
    });
  expect((await account.call('GET', '/credentials')).text).not.toContain(id);
});

test('unknown, malformed and foreign ids are the same: not found', async () => {
  const other = await gateway.newAccount();
  const foreign = (await other.call('POST', '/credentials')).body.id;
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const answers = await Promise.all(
      [newId('cr'), 'cr_1', 'x', '%F0%9F%98%80', '%00', newId('ak'), foreign].map((id) =>
        account.call(method, `/credentials/${id}`),
      ),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect({ ...body, details: null }).toEqual({ ...answers[0]?.body, details: null });
    }
  }
  expect((await other.call('GET', `/credentials/${foreign}`)).status).toBe(200);
});
