// What front ends keep in a store stays whole: an object has one id and one type wherever it is met, what happens to it is told of it,
// and a mutation gives what it has changed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { getOperationAST } from 'graphql';
import { type ClientOptions, createClient as createSocket, type Client as Socket } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { root } from '../support/root.ts';
import { apolloOf, type StoreClient, urqlOf } from './store-clients.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.close());

describe('the code of the manual', () => {
  const page = readFileSync(join(root, 'src/manual/own-dashboard.md'), 'utf8');
  const [backend = '', setUp = '', mutations = ''] = [...page.matchAll(/```js\n([\s\S]+?)```/g)].map(
    ([, code]) => code,
  );
  const runnable = (code: string) =>
    code.replaceAll(/^import .*\n/gm, '').replaceAll('127.0.0.1:4000', new URL(gateway.api).host);
  const Async = Object.getPrototypeOf(async () => undefined).constructor as FunctionConstructor;

  test('mints a key that reads and ends soon, with which a page makes its client', async () => {
    const account = await gateway.newAccount();
    const keyFor = new Async('process', `${runnable(backend)} return keyFor('somebody');`);
    const minted: string = await keyFor({ env: { API_KEY: account.key } });
    const listed = (await account.call('GET', '/api_keys')).body.keys;
    expect(listed).toMatchObject([{ description: 'dashboard of somebody', scopes: ['read'] }, {}]);

    const sockets: Socket[] = [];
    const names = { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache, GraphQLWsLink, getOperationAST };
    const createClient = (options: ClientOptions) => {
      const socket = createSocket({ ...options, webSocketImpl: WebSocket });
      sockets.push(socket);
      return socket;
    };
    const parameters = [...Object.keys(names), 'createClient', 'apiKey'];
    const values = [...Object.values(names), createClient];
    const reader = await new Async(...parameters, `${runnable(setUp)} return client;`)(...values, minted);
    const { data } = await reader.query({ query: gql('{ viewer { isAdmin } nodes(ids: []) { id } }') });
    expect(data).toEqual({ viewer: { __typename: 'Viewer', isAdmin: true }, nodes: [] });
    await expect(new Async('client', 'gql', runnable(mutations))(reader, gql)).rejects.toThrow('"credential:write"');

    const code = `${runnable(setUp)} ${runnable(mutations)} return { client, token, credential };`;
    const { client, token, credential } = await new Async(...parameters, code)(...values, account.key);
    expect([token, credential.description]).toEqual([expect.any(String), 'for a device']);
    expect(client.cache.extract()).not.toHaveProperty([`Credential:${credential.id}`]);
    expect((await account.call('GET', `/credentials/${credential.id}`)).status).toBe(404);
    for (const one of [reader, client]) one.stop();
    for (const socket of sockets) await socket.dispose();
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
    client = clientOf(gateway.api, account.key);
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
    expect(shown().ipPolicies.nodes[0].createdAt).toBe(policy.created_at);
    expect(client.problems).toEqual([]);
  });

  test('hears of a change by a WebSocket, and shows the object as it is now', async () => {
    const { id } = await made('/credentials', { description: 'before' });
    const shown = await client.watch(
      '{ credentials { nodes { __typename id description owner { __typename id ... on User { email } } } } }',
    );
    client.follow(
      'subscription { credentialChanged(mark: true) { action objectId credential { __typename id description } } }',
    );
    let count = 0;
    await expect
      .poll(async () => {
        // Until the subscription listens, changes are not for it.
        await account.call('PATCH', `/credentials/${id}`, { description: `after ${++count}` });
        return shown()?.credentials.nodes;
      })
      .toMatchObject([
        { id, description: expect.stringMatching(/^after/), owner: { __typename: 'User', id: account.ownerId } },
      ]);
    expect(client.problems).toEqual([]);
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
