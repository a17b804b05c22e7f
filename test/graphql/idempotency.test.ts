import { beforeAll, describe, expect, test } from 'vitest';
import { type Query, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

const create =
  'mutation ($key: String, $input: CreateCredentialInput!) { createCredential(idempotencyKey: $key, input: $input) { credential { id description } token } }';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await sharedGateway();
});

describe.each([
  ['by our own framing', () => gateway.api],
  ['by Yoga’s adapter', () => gateway.byYoga()],
])('%s', (_, listener) => {
  let graphql: Query;
  beforeAll(async () => {
    const base = await listener();
    const account = await gateway.newAccount();
    graphql = (query, variables, options) => account.graphql(query, variables, { base, ...options });
  });
  const count = async () => (await graphql('{ credentials { totalCount } }')).body.data.credentials.totalCount;

  test('the same mutation with the same key gets the same answer, byte for byte, and does nothing', async () => {
    const first = await graphql(create, { key: 'same', input: { description: 'a' } });
    const before = await count();
    const again = await graphql(create, { key: 'same', input: { description: 'a' } });
    expect(first.body.data.createCredential.token).toEqual(expect.any(String));
    expect(again.text).toBe(first.text);
    expect(await count()).toBe(before);
  });

  test('a key may stand in the document itself', async () => {
    const document = 'mutation { createCredential(input: {}, idempotencyKey: "literal") { credential { id } token } }';
    const first = await graphql(document);
    expect((await graphql(document)).text).toBe(first.text);
  });

  test('without a key, or with null, each mutation creates', async () => {
    const first = await graphql(create, { key: null, input: {} });
    const second = await graphql(create, { input: {} });
    expect(second.body.data.createCredential.credential.id).not.toBe(first.body.data.createCredential.credential.id);
  });

  test('other variables or another selection under the same key are refused', async () => {
    await graphql(create, { key: 'reused', input: { description: 'a' } });
    const before = await count();
    const others = [
      await graphql(create, { key: 'reused', input: { description: 'b' } }),
      await graphql(
        'mutation { createCredential(idempotencyKey: "reused", input: { description: "a" }) { credential { id } } }',
      ),
    ];
    for (const { body } of others)
      expect(body.errors[0].extensions).toMatchObject({
        code: 'CONFLICT',
        errorCode: 'ERR_GATEWAY_90010',
        status: 409,
      });
    expect(await count()).toBe(before);
  });

  test.each([
    [
      'two keyed mutations',
      'mutation { a: createCredential(input: {}, idempotencyKey: "k1") { credential { id } } b: createCredential(input: {}, idempotencyKey: "k2") { credential { id } } }',
    ],
    [
      'a keyed mutation beside another',
      'mutation { a: createCredential(input: {}, idempotencyKey: "k3") { credential { id } } b: deleteCredential(id: "cr_1") { deletedCredentialId } }',
    ],
    [
      'another beside a keyed mutation',
      'mutation { b: deleteCredential(id: "cr_1") { deletedCredentialId } a: createCredential(input: {}, idempotencyKey: "k4") { credential { id } } }',
    ],
    [
      'a keyed mutation in a fragment',
      'mutation { ...f } fragment f on Mutation { createCredential(input: {}, idempotencyKey: "k5") { credential { id } } }',
    ],
    [
      'a mutation whose key is in a fragment, beside another',
      'mutation { a: deleteCredential(id: "cr_1") { deletedCredentialId } ...f } fragment f on Mutation { createCredential(input: {}, idempotencyKey: "k6") { credential { id } } }',
    ],
  ])('%s in one operation is refused, and nothing is done', async (_, query) => {
    const before = await count();
    const { body } = await graphql(query);
    expect(body.data ?? null).toBeNull();
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', errorCode: 'ERR_GATEWAY_90011' });
    expect(await count()).toBe(before);
  });

  test('a mutation that fails leaves its key unused, and nothing behind', async () => {
    const failed = await graphql(create, { key: 'failed', input: { acl: ['nonsense'] } });
    expect(failed.body.errors[0].extensions.errorCode).toBe('ERR_GATEWAY_600');
    const right = await graphql(create, { key: 'failed', input: { description: 'right' } });
    expect(right.body.data.createCredential.credential.description).toBe('right');
  });

  test('a key with another’s answer behind it says nothing to a stranger', async () => {
    const first = await graphql(create, { key: 'stranger', input: {} });
    const other = await graphql(create, { key: 'stranger', input: {} }, { key: null });
    expect(other.body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    expect(other.text).not.toContain(first.body.data.createCredential.token);
  });

  test('of mutations with one key at the same time, one creates and all get its answer', async () => {
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 8 }, () => graphql(create, { key: 'together', input: {} })));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await count()).toBe(before + 1);
  });
});
