// GraphQL over HTTP: the audit of graphql-http, and what the specification leaves to be refused.

import { createHash } from 'node:crypto';
import { serverAudits } from 'graphql-http';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

describe.each([
  ['by our own framing', () => gateway.api],
  ['by Yoga’s adapter', () => gateway.byYoga()],
])('%s', (_, listener) => {
  let base: string;
  beforeAll(async () => {
    base = await listener();
  });

  const audits = serverAudits({ url: () => `${base}/graphql`, fetchFn: fetch });
  test.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_, audit) => {
    expect(await audit.fn()).toMatchObject({ status: 'ok' });
  });

  /** A POST with any body and any type. */
  async function send(payload: string, type: string | undefined) {
    const headers = { authorization: `Bearer ${account.key}`, ...(type === undefined ? {} : { 'content-type': type }) };
    // Bytes: so that no content type is added.
    const response = await fetch(`${base}/graphql`, {
      method: 'POST',
      headers,
      body: new TextEncoder().encode(payload),
    });
    return { status: response.status, body: await response.json() };
  }
  describe('an automatic persisted query', () => {
    const ask = (message: object, { key }: Pick<Account, 'key'> = account) =>
      fetch(`${base}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(message),
      });
    const named = (query: string) => ({
      persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') },
    });
    const unknown = {
      errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', status: 200 } }],
    };

    test('is asked for until it was sent once, and then known by its digest, by POST and GET', async () => {
      const query = `{ credentials { totalCount } } # ${base}`;
      const extensions = named(query);
      const first = await ask({ extensions });
      expect([first.status, await first.json()]).toMatchObject([200, unknown]);
      expect(await (await ask({ query, extensions })).json()).toMatchObject({ data: { credentials: {} } });
      expect(await (await ask({ extensions })).json()).toMatchObject({ data: { credentials: {} } });
      const address = `${base}/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
      const got = await fetch(address, { headers: { authorization: `Bearer ${account.key}` } });
      expect(await got.json()).toMatchObject({ data: { credentials: {} } });
    });

    test('that changes something is not run by GET', async () => {
      const query = `mutation { createCredential(input: {}) { credential { id } } } # ${base}`;
      expect(await (await ask({ query, extensions: named(query) })).json()).toMatchObject({ data: {} });
      const before = (await account.graphql('{ credentials { totalCount } }')).body;
      const address = `${base}/graphql?extensions=${encodeURIComponent(JSON.stringify(named(query)))}`;
      const got = await fetch(address, { headers: { authorization: `Bearer ${account.key}` } });
      expect(got.status).toBe(405);
      expect((await account.graphql('{ credentials { totalCount } }')).body).toEqual(before);
    });

    test('is not known to other accounts, nor kept for strangers', async () => {
      const query = `{ credentials { nodes { id } } } # ${base}`;
      await ask({ query, extensions: named(query) });
      for (const who of [await gateway.newAccount(), { key: 'nobody' }])
        expect(await (await ask({ extensions: named(query) }, who)).json()).toMatchObject(unknown);
    });

    test.each([
      ['a digest of another document', { ...named('{ viewer { accountId } }') }],
      ['another version', { persistedQuery: { ...named('{ node(id: "x") { id } }').persistedQuery, version: 2 } }],
      ['no digest', { persistedQuery: { version: 1, sha256Hash: 'x' } }],
    ])('with %s is refused in words', async (_, extensions) => {
      const response = await ask({ query: '{ node(id: "x") { id } }', extensions });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { errors: [{ message: expect.stringContaining('persistedQuery') }] },
      ]);
    });
  });

  const count = async () => (await account.graphql('{ credentials { totalCount } }')).body.data.credentials.totalCount;
  const mutation = 'mutation { createCredential(input: {}) { credential { id } } }';

  test.each([
    ['a form', 'application/x-www-form-urlencoded', `query=${encodeURIComponent(mutation)}`],
    [
      'a form with files',
      'multipart/form-data; boundary=x',
      `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query: mutation })}\r\n--x--\r\n`,
    ],
    ['plain text', 'text/plain', JSON.stringify({ query: mutation })],
    ['a GraphQL document', 'application/graphql', mutation],
    ['JSON in another character set', 'application/json; charset=utf-16', JSON.stringify({ query: mutation })],
    ['nothing said', undefined, JSON.stringify({ query: mutation })],
  ])('a page of another site cannot send a mutation as %s', async (_, type, payload) => {
    const before = await count();
    const answer = await send(payload, type);
    expect(answer.status).toBe(415);
    expect(answer.body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 415 });
    expect(await count()).toBe(before);
  });

  test('a mutation by GET is refused', async () => {
    const before = await count();
    const response = await fetch(`${base}/graphql?query=${encodeURIComponent(mutation)}`, {
      headers: { authorization: `Bearer ${account.key}`, accept: 'application/graphql-response+json' },
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toContain('POST');
    expect(await count()).toBe(before);
  });

  test('PATCH is no method of GraphQL', async () => {
    const method = 'PATCH';
    const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
    const response = await fetch(`${base}/graphql`, {
      method,
      headers,
      body: JSON.stringify({ query: mutation }),
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toMatch(/GET, .*POST/);
  });

  test('a query by GET is answered', async () => {
    const response = await fetch(`${base}/graphql?query=${encodeURIComponent('{ credentials { totalCount } }')}`, {
      headers: { authorization: `Bearer ${account.key}`, accept: 'application/json' },
    });
    expect(await response.json()).toEqual({ data: { credentials: { totalCount: expect.any(Number) } } });
  });

  test.each([
    ['a list of operations', '[{"query":"{ __typename }"}]', 'ERR_GATEWAY_90337'],
    ['an empty list', '[]', 'ERR_GATEWAY_90337'],
    ['broken JSON', '{"query":', 'ERR_GATEWAY_213'],
    ['a member twice', '{"query":"{ __typename }","query":"{ credentials { totalCount } }"}', 'ERR_GATEWAY_90005'],
    ['__proto__ in the variables', '{"query":"{ __typename }","variables":{"__proto__":{}}}', 'ERR_GATEWAY_90006'],
  ])('%s is refused', async (_, payload, errorCode) => {
    const answer = await send(payload, 'application/json');
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', errorCode, status: 400 });
  });

  const subscription = 'subscription { credentialChanged { action } }';
  const apollo = 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"';
  test.each([
    ['a form that is not spoken', '{ __typename }', 'text/csv', 'ERR_GATEWAY_90335'],
    ['Apollo’s multipart form alone', subscription, apollo, 'ERR_GATEWAY_90335'],
    ['Apollo’s multipart form', subscription, `${apollo},application/json`, 'ERR_GATEWAY_90336'],
    ['JSON alone', subscription, 'application/json', 'ERR_GATEWAY_90336'],
    ['the media type of results alone', subscription, 'application/graphql-response+json', 'ERR_GATEWAY_90336'],
  ])('whoever asks for %s is told what is spoken', async (_, query, accept, errorCode) => {
    for (const method of ['POST', 'GET']) {
      const response = await fetch(`${base}/graphql${method === 'GET' ? `?query=${encodeURIComponent(query)}` : ''}`, {
        method,
        headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json', accept },
        body: method === 'POST' ? JSON.stringify({ query }) : null,
      });
      expect([response.status, await response.json()]).toEqual([
        406,
        {
          errors: [
            {
              message: expect.stringContaining('text/event-stream'),
              extensions: expect.objectContaining({ errorCode, status: 406 }),
            },
          ],
        },
      ]);
      expect(response.headers.get('vary') ?? '').toMatch(method === 'GET' ? /Accept/ : /^/);
      expect(response.headers.get('content-encoding')).toBeNull();
    }
  });

  test('a member that nobody knows is ignored', async () => {
    const answer = await send('{"query":"{ __typename }","id":"7"}', 'application/json');
    expect(answer).toEqual({ status: 200, body: { data: { __typename: 'Query' } } });
  });

  test('an operationName that the document does not have is a mistake in the request', async () => {
    const answer = await send('{"query":"query A { __typename }","operationName":"B"}', 'application/json');
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
  });

  const createWith =
    'mutation ($input: CreateCredentialInput!) { createCredential(input: $input) { credential { id } } }';
  const lookUp = 'query ($id: ID!) { credential(id: $id) { id } }';
  test.each([
    [
      'the wrong type in a variable',
      createWith,
      { input: { description: 7 } },
      { errorCode: 'ERR_GATEWAY_215', field: 'description' },
    ],
    ['an unknown member in a variable', createWith, { input: { color: 'red' } }, { errorCode: 'ERR_GATEWAY_214' }],
    ['a required variable that is missing', lookUp, {}, { errorCode: 'ERR_GATEWAY_90007', field: 'id' }],
    [
      'the character U+0000',
      createWith,
      { input: { metadata: 'a\0' } },
      { errorCode: 'ERR_GATEWAY_215', field: 'metadata' },
    ],
    [
      'half a surrogate pair',
      createWith,
      { input: { acl: ['\ud800'] } },
      { errorCode: 'ERR_GATEWAY_215', field: 'acl[0]' },
    ],
  ])('%s is the client’s mistake, and its member is named', async (_, query, variables, extensions) => {
    const { body } = await account.graphql(query, variables, { base });
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400, ...extensions });
  });

  test('an error has a code, a number, a status, the operation and the member to blame, in camelCase', async () => {
    const { body, headers } = await account.graphql(
      'mutation { createCredential(input: { ownerId: "nobody" }) { credential { id } } }',
      {},
      { base },
    );
    expect(body).toEqual({
      data: { createCredential: null },
      errors: [
        {
          message: 'ownerId must be the id of an active user or bot user of this account.',
          locations: [{ line: 1, column: 12 }],
          path: ['createCredential'],
          extensions: {
            code: 'BAD_USER_INPUT',
            errorCode: 'ERR_GATEWAY_90029',
            status: 400,
            field: 'ownerId',
            problems: [
              {
                path: ['input', 'ownerId'],
                code: 'UNKNOWN_OWNER',
                message: 'ownerId must be the id of an active user or bot user of this account.',
              },
            ],
            operationId: headers['service-operation-id'],
          },
        },
      ],
    });
  });
});
