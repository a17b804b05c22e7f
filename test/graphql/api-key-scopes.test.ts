// API keys that may do less than their owners, and keys that expire.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { endOf, subscribe } from '../support/gateway/sse.ts';

const HOUR_MS = 3_600_000;

let gateway: TestGateway;
let account: Account;
let clockMs = 0;
beforeAll(async () => {
  gateway = await startTestGateway({}, { now: () => Date.now() + clockMs });
  account = await gateway.newAccount();
});
afterAll(() => gateway?.close());

interface NewKey {
  id: string;
  token: string;
}

async function newKey(input: object): Promise<NewKey> {
  const { status, body, text } = await account.call('POST', '/api_keys', input);
  expect(status, text).toBe(201);
  return body;
}
const callWith = ({ token }: NewKey, method: string, path: string, body?: object) =>
  gateway.call(method, path, body, { key: token });
const askWith = ({ token }: NewKey, document: string, variables: object = {}) =>
  gateway.graphql(document, variables, { key: token });
const errorOf = ({ body }: { body: { errors?: { extensions: { errorCode: string } }[] } }) =>
  body.errors?.[0]?.extensions.errorCode;
const MISSING = 'ERR_GATEWAY_90330';

describe('a key with scopes', () => {
  test('that reads sees all lists, and changes nothing, through both doors', async () => {
    const key = await newKey({ scopes: ['read'] });
    for (const path of ['/endpoints', '/credentials', '/reserved_domains', '/edges/https'])
      expect((await callWith(key, 'GET', path)).status).toBe(200);
    expect(
      (await askWith(key, '{ endpoints { totalCount } search(text: "x") { objectId } }')).body.errors,
    ).toBeUndefined();
    const refused = await callWith(key, 'POST', '/credentials', {});
    expect(refused).toMatchObject({
      status: 403,
      body: { error_code: MISSING, msg: expect.stringContaining('"credential:write"') },
    });
    expect(errorOf(await askWith(key, 'mutation { createCredential(input: {}) { credential { id } } }'))).toBe(MISSING);
    expect((await account.call('GET', '/credentials')).body.credentials).toEqual([]);
  });

  test('of a kind reads and changes that kind, its parts, and no other', async () => {
    const key = await newKey({ scopes: ['tls_edge:write', 'ip_policy:read'] });
    const made = await callWith(key, 'POST', '/edges/tls', {});
    expect(made.status, made.text).toBe(201);
    const { body: edge } = made;
    expect((await callWith(key, 'GET', '/edges/tls')).body.tls_edges).toHaveLength(1);
    const path = `/edges/tls/${edge.id}`;
    expect((await callWith(key, 'PUT', `${path}/tls_termination`, {})).status).toBe(200);
    expect((await callWith(key, 'GET', `${path}/tls_termination`)).status).toBe(200);
    expect((await callWith(key, 'GET', '/ip_policies')).status).toBe(200);
    for (const [method, other] of [
      ['POST', '/ip_policies'],
      ['GET', '/ip_policy_rules'],
      ['GET', '/edges/https'],
      ['GET', '/credentials'],
    ] as const)
      expect((await callWith(key, method, other, method === 'POST' ? {} : undefined)).body.error_code).toBe(MISSING);
    expect(errorOf(await askWith(key, '{ node(id: "x") { id } }'))).toBe(MISSING);
    expect((await callWith(key, 'DELETE', path)).status).toBe(204);
  });

  test('of a kind does all that is done to that kind', async () => {
    const key = await newKey({ scopes: ['credential:write', 'event_subscription:write', 'reserved_domain:write'] });
    const { body: credential } = await callWith(key, 'POST', '/credentials', {});
    for (const mutation of ['rotateCredential', 'finishRotation'])
      expect(
        (await askWith(key, `mutation { ${mutation}(id: "${credential.id}") { credential { id } } }`)).body.errors,
      ).toBeUndefined();
    for (const mutation of ['retryCertificate', 'revokeCertificate'])
      expect(
        (await askWith(key, `mutation { ${mutation}(id: "rd_1") { reservedDomain { id } } }`)).body.errors,
      ).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    const datadog = { api_key: 'a-key', ddsite: 'datadoghq.com' };
    const { body: destination } = await account.call('POST', '/event_destinations', { target: { datadog } });
    const sent = { sources: [{ type: 'vault_created.v0' }], destination_ids: [destination.id] };
    const made = await callWith(key, 'POST', '/event_subscriptions', sent);
    expect(made.status, made.text).toBe(201);
    const sources = `/event_subscriptions/${made.body.id}/sources`;
    const added = await callWith(key, 'POST', sources, { type: 'vault_deleted.v0' });
    expect(added.status, added.text).toBe(201);
    expect((await callWith(key, 'DELETE', `${sources}/vault_deleted.v0`)).status).toBe(204);
  });

  test('reads the list and the stream of all endpoints when it may read both kinds', async () => {
    const one = await newKey({ scopes: ['endpoint:read'] });
    expect(errorOf(await askWith(one, '{ allEndpoints { totalCount } }'))).toBe(MISSING);
    const refused = await subscribe(gateway.api, one.token, 'subscription { anyEndpointChanged { objectId } }');
    expect(await endOf(refused)).toContain(MISSING);
    const both = await newKey({ scopes: ['endpoint:read', 'offline_endpoint:read'] });
    expect((await askWith(both, '{ allEndpoints { totalCount } }')).body.errors).toBeUndefined();
  });

  test('of a kind reads what is asked about that kind', async () => {
    const key = await newKey({ scopes: ['alert:read', 'credential:read', 'endpoint:read', 'reserved_domain:read'] });
    for (const query of ['openAlerts { id }', 'tryAcl(acl: ["bind:*"]) { __typename }', 'failingEndpoints { id }'])
      expect((await askWith(key, `{ ${query} }`)).body.errors, query).toBeUndefined();
    const { body } = await askWith(key, '{ checkReservedDomain(id: "rd_1") { __typename } }');
    expect(body.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  });

  test('of a kind is told the names of objects of other kinds, and no more of them', async () => {
    const key = await newKey({ scopes: ['credential:read'] });
    const { body } = await account.call('POST', '/credentials', {});
    const owner = { id: account.ownerId, uri: expect.stringContaining(account.ownerId), __typename: 'User' };
    const names = 'fragment names on Owner { id ... on Node { __typename } }';
    const read = (members: string) =>
      askWith(key, `query ($id: ID!) { credential(id: $id) { acl owner { ...names ${members} } } } ${names}`, {
        id: body.id,
      });
    expect((await read('uri')).body).toEqual({
      data: { credential: { acl: [], owner } },
    });
    for (const more of ['id active', '... on User { email }', 'id @include(if: true) ... on Owner { createdAt }'])
      expect((await read(more)).body.errors, more).toMatchObject([
        {
          path: ['credential', 'owner'],
          extensions: { errorCode: MISSING },
          message: expect.stringContaining('"user:read"'),
        },
      ]);
  });

  test('of one object leaves all others alone', async () => {
    const [mine, other] = [
      (await account.call('POST', '/credentials', {})).body.id,
      (await account.call('POST', '/credentials', {})).body.id,
    ];
    const key = await newKey({ scopes: [`credential:write:${mine}`] });
    expect((await callWith(key, 'PATCH', `/credentials/${mine}`, { description: 'changed' })).status).toBe(200);
    expect((await callWith(key, 'GET', `/credentials/${other}`)).body.error_code).toBe(MISSING);
    expect((await callWith(key, 'GET', '/credentials')).body.error_code).toBe(MISSING);
    expect((await callWith(key, 'DELETE', `/credentials/${other}`)).body.error_code).toBe(MISSING);
  });

  test('cannot give itself more: no key, no user, no sign-in link, no bulk job', async () => {
    const key = await newKey({ scopes: ['read', 'bot_user:write', 'credential:write'] });
    for (const mutation of [
      'createApiKey(input: {}) { apiKey { id } }',
      `updateApiKey(id: "${key.id}", input: { scopes: [] }) { apiKey { id } }`,
      'createUser(input: { email: "a@example.com" }) { user { id } }',
      `createSignInLink(userId: "${account.ownerId}") { signInLink { url } }`,
      `deleteApiKey(id: "${key.id}") { deletedApiKeyId }`,
    ])
      expect(errorOf(await askWith(key, `mutation { ${mutation} }`)), mutation).toBe(MISSING);
  });

  test('that is given others has them from the next request on, and its subscriptions end', async () => {
    const key = await newKey({ scopes: ['read'] });
    const stream = await subscribe(gateway.api, key.token, 'subscription { credentialChanged { action } }');
    await account.call('PATCH', `/api_keys/${key.id}`, { scopes: ['endpoint:read'] });
    expect((await callWith(key, 'GET', '/credentials')).body.error_code).toBe(MISSING);
    expect(await endOf(stream)).toBe('UNAVAILABLE ERR_GATEWAY_90304');
    expect((await account.call('GET', `/api_keys/${key.id}`)).body.scopes).toEqual(['endpoint:read']);
  });
});

describe('a key that expires', () => {
  test('is refused from that moment on, also where it was used just before', async () => {
    const expiresAt = new Date(Date.now() + clockMs + HOUR_MS);
    const key = await newKey({ expires_at: expiresAt.toISOString() });
    expect((await callWith(key, 'GET', '/endpoints')).status).toBe(200);
    clockMs += HOUR_MS;
    expect(await callWith(key, 'GET', '/endpoints')).toMatchObject({
      status: 401,
      body: { error_code: 'ERR_GATEWAY_90334' },
    });
    clockMs -= HOUR_MS;
  });

  test('makes no key that outlives it', async () => {
    const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
    const key = await newKey({ expires_at: at(1) });
    for (const expires_at of [undefined, at(2)])
      expect((await callWith(key, 'POST', '/api_keys', { expires_at })).body.error_code).toBe('ERR_GATEWAY_90333');
    expect((await callWith(key, 'POST', '/api_keys', { expires_at: at(0.5) })).status).toBe(201);
  });
});
