import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ');

/** `__type(name: "Credential") { ofType { ofType { … name } } }`, this many levels deep. */
function nested(depth: number): string {
  const inner = Array.from({ length: depth - 2 }).reduce<string>((below) => `ofType { ${below} }`, 'name');
  return `__type(name: "Credential") { ${inner} }`;
}

/** Twenty fragments, each using the next one twice: a million fields in a kilobyte. */
const exponential = `{ credentials(first: 1) { nodes { ...f0 } } }
  ${times(20, (n) => `fragment f${n} on Credential { ...f${n + 1} ...f${n + 1} }`)} fragment f20 on Credential { id }`;
const row = 'id uri createdAt description metadata acl ownerId owner { id active createdAt }';
const page = `nodes { ${row} ${row} ${row} } edges { cursor node { ${row} } }`;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

describe.each([
  ['by our own framing', () => gateway.api],
  ['by Yoga’s adapter', () => gateway.byYoga()],
])('%s an operation is refused', (_, listener) => {
  let base: string;
  beforeAll(async () => {
    base = await listener();
  });

  test.each([
    ['that is more than 16 levels deep', `{ ${nested(17)} }`, 'deep'],
    ['that is as deep by inline fragments', `{ ... on Query { ... { ${nested(17)} } } }`, 'deep'],
    ['that is as deep by a fragment', `{ ...f } fragment f on Query { ${nested(17)} }`, 'deep'],
    ['with more than 50 aliases', `{ credentials { ${times(51, (n) => `a${n}: uri`)} } }`, 'aliases'],
    [
      'with more than 50 aliases in fragments',
      `{ ...f ...f } fragment f on Query { credentials { ${times(26, (n) => `a${n}: uri`)} } }`,
      'aliases',
    ],
    [
      'with more than 50 aliases in an introspection',
      `{ __schema { types { ${times(51, (n) => `a${n}: fields { name }`)} } } }`,
      'aliases',
    ],
    ['with more than 20 root fields', `{ ${times(21, (n) => `a${n}: __typename`)} }`, 'root fields'],
    [
      'with more than 20 mutations',
      `mutation { ${times(21, (n) => `a${n}: deleteCredential(id: "x") { deletedCredentialId }`)} }`,
      'root fields',
    ],
    [
      'whose answer could have more than 120,000 fields',
      `{ ${times(12, (n) => `a${n}: credentials { nodes { ${times(6, () => row)} } ${page} }`)} }`,
      'without first counts as 100 objects: write a smaller first into the document',
    ],
    [
      'whose lists of ids could give as many',
      `{ ${times(20, (n) => `a${n}: nodes(ids: []) { ...f }`)} } fragment f on Credential { ${times(6, () => row)} }`,
      'what is below nodes counts as 132000, as the list counts as 100 objects',
    ],
    [
      'whose pages in pages could give as many',
      `{ vaults { nodes { secrets { nodes { ${times(12, (n) => `a${n}: name`)} } } } } }`,
      'what is below secrets counts as 130000, as a page without first counts as 100 objects',
    ],
    [
      'that is an introspection whose answer could have more than 120,000 fields',
      `{ __schema { types { ${times(20, (n) => `a${n}: fields { name type { name kind ofType { name } } args { name type { name kind } } }`)} } } }`,
      'fields',
    ],
    [
      'whose lists may each have to look at all objects',
      `query ($f: String) { ${times(16, (n) => `a${n}: credentials(first: 1, filter: $f, search: "x") { uri }`)} }`,
      'credentials counts as 8001',
    ],
    ['whose fragments repeat exponentially', exponential, 'fragments'],
  ])('%s', async (_, query, reason) => {
    const { body } = await account.graphql(query, {}, { base });
    expect(body.data).toBeUndefined();
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining(reason),
      extensions: { code: 'BAD_USER_INPUT', errorCode: 'ERR_GATEWAY_90013', status: 400 },
    });
  });

  test('with more than 2000 tokens, before it is read to its end', async () => {
    const { body } = await account.graphql(`{ ${'__typename '.repeat(2000)} }`, {}, { base });
    expect(body.data).toBeUndefined();
    expect(body.errors[0]).toMatchObject({
      message: expect.stringMatching(/token/i),
      extensions: { code: 'BAD_USER_INPUT', status: 400 },
    });
  });

  test('with a circle of fragments', async () => {
    const { body } = await account.graphql(
      '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }',
      {},
      { base },
    );
    expect(body.data).toBeUndefined();
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
  });

  test('not when it is as large as it may be', async () => {
    const largest = [
      `{ ${nested(16)} }`,
      `{ credentials(first: 1) { ${times(50, (n) => `a${n}: uri`)} } }`,
      `{ ${times(20, (n) => `a${n}: __typename`)} }`,
      `{ ${times(2, (n) => `a${n}: credentials { ${page} }`)} }`,
      `{ ${times(14, (n) => `a${n}: credentials(first: 1, filter: "true", search: "x") { uri }`)} }`,
      `{ vaults { nodes { name secrets(first: 10) { totalCount nodes { ${times(50, () => 'name')} } pageInfo { endCursor } } } } }`,
      `{ vaults { nodes { name secrets { nodes { id name description createdAt updatedAt vaultName metadata } } } } }`,
      `{ ${times(20, (n) => `a${n}: credentials(first: 1, filter: null, search: null) { uri }`)} }`,
    ];
    for (const query of largest) {
      const { body } = await account.graphql(query, {}, { base });
      expect(body.errors).toBeUndefined();
    }
  });

  test('and whoever asks is told what an operation counts as', async () => {
    const ask = async (query: string, extensions: object) => {
      const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ query, extensions });
      return (await fetch(`${base}/graphql`, { method: 'POST', headers, body })).json();
    };
    const cost = (requestedQueryCost: number) => ({ cost: { requestedQueryCost, maximumQueryCost: 120_000 } });
    const query = '{ credentials(first: 7) { totalCount nodes { id } } }';
    expect((await ask(query, { cost: true })).extensions).toEqual(cost(22));
    expect(await ask(query, {})).not.toHaveProperty('extensions');
    const failed = await ask('{ credential(id: "x") { id } }', { cost: true });
    expect(failed).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND' } }], extensions: cost(2) });
  });

  test('that is larger than 64 KiB', async () => {
    const answer = await account.graphql(`{ __typename } #${' '.repeat(65_536)}`, {}, { base });
    expect(answer).toMatchObject({
      status: 413,
      body: { errors: [{ extensions: { errorCode: 'ERR_GATEWAY_90004' } }] },
    });
  });
});
