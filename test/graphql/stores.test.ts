// What front ends keep in a store stays whole: an object has one id and one type wherever it is met, what happens to it is told of it,
// and a mutation gives what it has changed.

import { gql } from '@apollo/client';
import { isAbstractType } from 'graphql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { schema } from '../../src/api/schema.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { codeOf, PageCode } from './page-code.ts';
import { apolloNames, apolloOf, apolloSetUp, type StoreClient, urqlOf } from './store-clients.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.close());

describe('the code of the manual', () => {
  const [backend = ''] = codeOf('Signing people in');
  const [mutations = ''] = codeOf('What changes');

  test('mints a key that reads and ends soon, with which a page makes its client', async () => {
    const account = await gateway.newAccount();
    const names = { process: { env: { API_KEY: account.key } } };
    const minted = await new PageCode(gateway.api, account.key).run(`${backend} return keyFor('somebody');`, names);
    const listed = (await account.call('GET', '/api_keys')).body.keys;
    expect(listed).toMatchObject([{ description: 'dashboard of somebody', scopes: ['read'] }, {}]);

    const page = new PageCode(gateway.api, minted);
    const { client: reader, possibleTypes } = await page.run(
      `${apolloSetUp} return { client, possibleTypes };`,
      apolloNames,
    );
    const found = gql(
      'query ($id: ID!) { viewer { isAdmin } node(id: $id) { id ... on Owner { uri ... on User { email } } } }',
    );
    const { data } = await reader.query({ query: found, variables: { id: account.ownerId } });
    expect(data.viewer).toEqual({ __typename: 'Viewer', isAdmin: true });
    expect(reader.cache.extract()[`User:${account.ownerId}`]).toEqual(data.node);
    expect(Object.keys(data.node).sort()).toEqual(['__typename', 'email', 'id', 'uri']);
    const abstract = Object.values(schema.getTypeMap()).filter(isAbstractType);
    expect(possibleTypes).toEqual(
      Object.fromEntries(abstract.map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)])),
    );
    await expect(page.run(mutations, { client: reader, gql })).rejects.toThrow('"credential:write"');

    const whole = new PageCode(gateway.api, account.key);
    const code = `${apolloSetUp} ${mutations} return { client, token, credential };`;
    const { client, token, credential } = await whole.run(code, apolloNames);
    expect([token, credential.description]).toEqual([expect.any(String), 'for a device']);
    expect(client.cache.extract()).not.toHaveProperty([`Credential:${credential.id}`]);
    expect((await account.call('GET', `/credentials/${credential.id}`)).status).toBe(404);
    for (const one of [reader, client]) one.stop();
    for (const one of [page, whole]) await one.close();
  });
});

describe.each([
  ['Apollo Client', apolloOf],
  ['urql with graphcache', urqlOf],
])('%s', (_, clientOf) => {
  let account: Account;
  let client: StoreClient;
  beforeEach(async () => {
    account = await gateway.newAccount();
    client = await clientOf(gateway.api, account.key);
  });
  afterEach(() => client.close());

  const made = async (path: string, body: object = {}) => {
    const answer = await account.call('POST', path, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };

  test('keeps an object whole that is met again where others lead to it', async () => {
    const policy = await made('/ip_policies', { description: 'office' });
    await made('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' });
    const shown = await client.watch('{ ipPolicies { nodes { __typename id description createdAt } } }');
    const { ipPolicyRules } = await client.run(
      '{ ipPolicyRules { nodes { __typename id ipPolicy { __typename id uri } } } }',
    );
    expect(ipPolicyRules.nodes).toMatchObject([
      { ipPolicy: { __typename: 'IpPolicy', id: policy.id, uri: policy.uri } },
    ]);
    await client.run(
      'mutation ($id: ID!) { updateIpPolicy(id: $id, input: { description: "home" }) { ipPolicy { __typename id description } } }',
      { id: policy.id },
    );
    await expect.poll(() => shown()?.ipPolicies.nodes).toMatchObject([{ id: policy.id, description: 'home' }]);
    expect(shown().ipPolicies.nodes[0].createdAt).toMatch(/\.\d{3}Z$/);
    expect(client.problems).toEqual([]);
  });

  test('hears of what happens by a WebSocket, and shows the list and its objects as they are now', async () => {
    const { id } = await made('/credentials', { description: 'before' });
    const shown = await client.watch(
      '{ credentials { nodes { __typename id description owner { __typename id ... on User { email } } } } }',
    );
    await account.call('PATCH', `/credentials/${id}`, { description: 'before it listened' });
    await client.follow();
    const owner = { __typename: 'User', id: account.ownerId, email: expect.any(String) };
    const first = () => shown()?.credentials.nodes[0];
    await expect.poll(first).toMatchObject({ id, description: 'before it listened', owner });
    await account.call('PATCH', `/credentials/${id}`, { description: 'after' });
    await expect.poll(first).toMatchObject({ id, description: 'after', owner });
    const { id: another } = await made('/credentials');
    await expect.poll(first).toMatchObject({ id: another, owner });
    await account.call('DELETE', `/credentials/${another}`);
    await expect.poll(first).toMatchObject({ id, owner });
    expect(client.problems).toEqual([]);
  });

  test('shows the list again when it could not be asked for at once', async () => {
    const shown = await client.watch('{ credentials { nodes { __typename id description } } }');
    const before = shown().credentials.nodes;
    const failing = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed'));
    await client.follow();
    await expect.poll(() => client.problems.join()).toContain('fetch failed');
    failing.mockRestore();
    const { id } = await made('/credentials');
    await expect
      .poll(() => shown()?.credentials.nodes.map((row: { id: string }) => row.id))
      .toEqual([id, ...before.map((row: { id: string }) => row.id)]);
  });

  test('shows what the mutation of a module has changed of its route', async () => {
    const edge = await made('/edges/https');
    const route = await made(`/edges/https/${edge.id}/routes`, { match_type: 'path_prefix', match: '/' });
    const shown = await client.watch(
      `query ($id: ID!) { httpsEdge(id: $id) { __typename id routes { __typename id compression { __typename enabled } } } }`,
      { id: edge.id },
    );
    expect(shown().httpsEdge.routes).toMatchObject([{ id: route.id, compression: null }]);
    await client.run(
      `mutation ($edgeId: ID!, $id: ID!) { replaceHttpsEdgeRouteCompression(edgeId: $edgeId, id: $id, input: { enabled: true }) {
        httpsEdgeRoute { __typename id compression { __typename enabled } } } }`,
      { edgeId: edge.id, id: route.id },
    );
    await expect
      .poll(() => shown()?.httpsEdge.routes)
      .toMatchObject([{ id: route.id, compression: { enabled: true } }]);
    expect(client.problems).toEqual([]);
  });
});
