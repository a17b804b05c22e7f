// Fields that lead to other objects give the objects, which are those that `node` finds by their ids.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.newAccount();
});
afterAll(() => gateway?.close());

async function made(path: string, body: object = {}, by: Pick<Account, 'call'> = account) {
  const answer = await by.call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function read(query: string, variables: object = {}) {
  const { body, text } = await account.graphql(query, variables);
  expect(body.errors, text).toBeUndefined();
  return body.data;
}

test('a field of an interface gives the members of the kind that the object is of', async () => {
  const group = await made('/backends/tunnel_group', { labels: { app: 'shop' } });
  const fixed = await made('/backends/http_response', { body: 'hello' });
  const edge = await made('/edges/https');
  for (const [match, { id }] of [['/a', group] as const, ['/b', fixed] as const])
    await made(`/edges/https/${edge.id}/routes`, { match_type: 'path_prefix', match, backend: { backend_id: id } });
  const { httpsEdge } = await read(
    `query ($id: ID!) { httpsEdge(id: $id) { routes { backend { backend {
      __typename id uri ... on TunnelGroupBackend { labels } ... on HttpResponseBackend { body }
    } } } } }`,
    { id: edge.id },
  );
  expect(httpsEdge.routes).toEqual([
    {
      backend: { backend: { __typename: 'TunnelGroupBackend', id: group.id, uri: group.uri, labels: { app: 'shop' } } },
    },
    { backend: { backend: { __typename: 'HttpResponseBackend', id: fixed.id, uri: fixed.uri, body: 'hello' } } },
  ]);
});

test('a list in which objects of several kinds are named has each with its own members, in their order', async () => {
  const [vault, other] = [await made('/vaults', { name: 'own' }), await made('/vaults', { name: 'other' })];
  const secret = await made('/vault_secrets', { vault_id: vault.id, name: 'token', value: 'x' });
  await made('/vault_secrets', { vault_id: other.id, name: 'token', value: 'x' });
  const greeting = { type: 'custom-response', config: { body: `\${secrets.get('own', 'token')}` } };
  const policy = { traffic_policy: { value: JSON.stringify({ on_http_request: [{ actions: [greeting] }] }) } };
  const edge = await made('/edges/https');
  const route = await made(`/edges/https/${edge.id}/routes`, { match_type: 'path_prefix', match: '/', ...policy });
  const { node } = await read(
    `query ($id: ID!) { node(id: $id) { ... on Secret { vault { name } createdBy { active ... on User { role } }
      usedBy { __typename uri ... on HttpsEdgeRoute { match edgeId } } } } }`,
    { id: secret.id },
  );
  expect(node).toEqual({
    vault: { name: 'own' },
    createdBy: { active: true, role: 'ADMIN' },
    usedBy: [{ __typename: 'HttpsEdgeRoute', uri: route.uri, match: '/', edgeId: edge.id }],
  });
});

test('beside ids stand the objects', async () => {
  const email = (await read('query ($id: ID!) { user(id: $id) { email } }', { id: account.ownerId })).user.email;
  const vault = await made('/vaults', { name: 'with people' });
  const people = 'creator { ... on User { email } } lastUpdater { active }';
  expect(await read(`query ($id: ID!) { vault(id: $id) { createdBy ${people} } }`, { id: vault.id })).toEqual({
    vault: { createdBy: account.ownerId, creator: { email }, lastUpdater: { active: true } },
  });
  const edge = await made('/edges/https', { description: 'an edge' });
  const route = await made(`/edges/https/${edge.id}/routes`, { match_type: 'path_prefix', match: '/' });
  expect(
    await read('query ($id: ID!) { node(id: $id) { ... on HttpsEdgeRoute { edge { description } } } }', {
      id: route.id,
    }),
  ).toEqual({ node: { edge: { description: 'an edge' } } });
  const trail = await read(
    `query ($id: ID) { auditEntries(objectId: $id, first: 1) { nodes {
      actor { ... on User { email } } object { __typename id ... on Vault { name } } } } }`,
    { id: vault.id },
  );
  expect(trail.auditEntries.nodes).toEqual([
    { actor: { email }, object: { __typename: 'Vault', id: vault.id, name: 'with people' } },
  ]);
  const { search } = await read('{ search(text: "with people") { object { ... on Vault { name } } } }');
  expect(search).toEqual([{ object: { name: 'with people' } }]);
});

test('of what is no object of the API not even a name is told', async () => {
  const id = newId('acme');
  const { accountId } = account;
  const entry = {
    id: newId('aud'),
    accountId,
    createdAt: new Date(),
    source: 'API',
    action: 'DELETED',
    kind: 'acmeAccount',
  };
  await gateway.app.prisma.auditEntry.create({ data: { ...entry, objectId: id } });
  const query = 'query ($id: ID) { auditEntries(objectId: $id) { nodes { objectId object { id } } } }';
  expect((await read(query, { id })).auditEntries.nodes).toEqual([{ objectId: id, object: null }]);
});

test('of an object that is gone only the names are told, by GraphQL as by REST', async () => {
  const vault = await made('/vaults', { name: 'left' });
  const leaver = await account.addOwner({ kind: 'BOT' });
  const secret = await made('/vault_secrets', { vault_id: vault.id, name: 'a', value: 'x' }, leaver);
  const ask = (members: string) =>
    read(`query ($id: ID!) { secret(id: $id) { createdBy { ${members} } } }`, { id: secret.id });
  expect(await ask('id active')).toEqual({ secret: { createdBy: { id: leaver.ownerId, active: true } } });
  await gateway.app.prisma.apiKey.deleteMany({ where: { ownerId: leaver.ownerId } });
  expect((await account.call('DELETE', `/bot_users/${leaver.ownerId}`)).status).toBe(204);
  const names = { id: leaver.ownerId, uri: secret.created_by.uri };
  expect(await ask('id uri')).toEqual({ secret: { createdBy: names } });
  expect((await account.call('GET', `/vault_secrets/${secret.id}`)).body.created_by).toEqual(names);
  expect(await ask('id active')).toEqual({ secret: { createdBy: null } });
});
