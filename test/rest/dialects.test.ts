// Two dialects of REST: the specification to the letter, and what clients written for the original service know beyond it. A request
// says by its version header which one it wants.

import { beforeAll, describe, expect, test } from 'vitest';
import { FOREIGN_ERROR_PREFIX } from '../../src/tunnel/control/compatibility.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

const extended = { dialect: 'extended' } as const;

/** The members of an endpoint in the specification (section 2.2), in its order. */
const ENDPOINT = [
  ...['id', 'region', 'created_at', 'updated_at', 'public_url', 'proto', 'hostport', 'type', 'metadata'],
  ...['domain', 'tcp_addr', 'tunnel', 'edge'],
];

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  expect((await account.call('POST', '/reserved_domains', { domain: '*.dialects.example.com' })).status).toBe(201);
});

let made = 0;
const newCloudEndpoint = async () => {
  const url = `https://cloud-${++made}.dialects.example.com`;
  const { status, body } = await account.call('POST', '/cloud_endpoints', { url });
  expect(status).toBe(201);
  return body;
};

describe('endpoints', () => {
  test('have the 13 documented members, and further ones for older clients alone', async () => {
    const { id } = await newCloudEndpoint();
    const documented = (await account.call('GET', `/endpoints/${id}`)).body;
    expect(Object.keys(documented)).toEqual(ENDPOINT);
    const further = (await account.call('GET', `/endpoints/${id}`, undefined, extended)).body;
    expect(further).toMatchObject({ ...documented, type: 'cloud' });
    expect(documented.type).toBe('edge');
    expect(Object.keys(further).slice(ENDPOINT.length).sort()).toEqual([
      ...[
        'bindings',
        'description',
        'host',
        'name',
        'pooling_enabled',
        'port',
        'principal',
        'scheme',
        'traffic_policy',
      ],
      ...['tunnel_session', 'upstream_protocol', 'upstream_url', 'uri', 'url'],
    ]);
    for (const { endpoints } of [
      (await account.call('GET', '/endpoints')).body,
      (await account.call('GET', '/endpoints', undefined, extended)).body,
    ])
      expect(endpoints.find((one: { id: string }) => one.id === id)).toEqual(
        Object.keys(endpoints[0]).length === ENDPOINT.length ? documented : further,
      );
  });

  test.each(['POST /endpoints', 'PATCH /endpoints/{id}', 'DELETE /endpoints/{id}', 'PUT /endpoints/{id}'])(
    '%s is not allowed, and the answer says what is',
    async (call) => {
      const { id } = await newCloudEndpoint();
      const [method = '', path = ''] = call.split(' ');
      const answer = await account.call(method, path.replace('{id}', id), method === 'DELETE' ? undefined : {});
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } });
      expect((await account.call('GET', `/cloud_endpoints/${id}`)).status).toBe(200);
    },
  );

  test('are created, changed and deleted there by older clients, as the cloud endpoints that they are', async () => {
    const url = 'https://among-endpoints.dialects.example.com';
    const { status, body } = await account.call('POST', '/endpoints', { url, type: 'cloud' }, extended);
    expect({ status, uri: body.uri }).toEqual({ status: 201, uri: `${gateway.api}/endpoints/${body.id}` });
    const changed = await account.call('PATCH', `/endpoints/${body.id}`, { description: 'shop' }, extended);
    expect(changed).toMatchObject({ status: 200, body: { id: body.id, description: 'shop' } });
    expect((await account.call('GET', `/cloud_endpoints/${body.id}`)).body).toMatchObject({
      uri: `${gateway.api}/cloud_endpoints/${body.id}`,
      description: 'shop',
    });
    expect((await account.call('DELETE', `/endpoints/${body.id}`, undefined, extended)).status).toBe(204);
    expect((await account.call('GET', `/cloud_endpoints/${body.id}`)).status).toBe(404);
  });

  test('have a list of the cloud endpoints among them, whose next page is in the same list', async () => {
    const { newAccount } = gateway;
    const { call } = await newAccount();
    await call('POST', '/reserved_domains', { domain: '*.cloud-list.example.com' });
    for (const name of ['a', 'b', 'c'])
      await call('POST', '/cloud_endpoints', { url: `https://${name}.cloud-list.example.com` });
    const first = (await call('GET', '/cloud_endpoints?limit=2')).body;
    expect(first).toMatchObject({ uri: `${gateway.api}/cloud_endpoints`, next_page_uri: expect.any(String) });
    const second = (await call('GET', first.next_page_uri)).body;
    const urls = [...first.cloud_endpoints, ...second.cloud_endpoints].map(({ url }) => new URL(url).hostname);
    expect(urls).toEqual(['c', 'b', 'a'].map((name) => `${name}.cloud-list.example.com`));
    expect(second.next_page_uri).toBe(null);
  });

  test('are chosen by ids and URLs, in every page, by older clients', async () => {
    const chosen = [await newCloudEndpoint(), await newCloudEndpoint(), await newCloudEndpoint()];
    const list = async (query: string | URLSearchParams, more = {}) =>
      account.call('GET', `/endpoints?${query}`, undefined, { ...extended, ...more });
    const idsOf = ({ body }: { body: { endpoints: { id: string }[] } }) => body.endpoints.map(({ id }) => id);
    const [first, second, third] = chosen.map(({ id }) => id);
    const byId = new URLSearchParams([...[first, third].map((id) => ['id', id]), ['limit', '1']] as string[][]);
    const page = await list(byId);
    expect(idsOf(page)).toEqual([third]);
    const next = await account.call('GET', page.body.next_page_uri, undefined, extended);
    expect({ ids: idsOf(next), next: next.body.next_page_uri }).toEqual({ ids: [first], next: null });
    expect(idsOf(await list(new URLSearchParams({ url: chosen[1].url })))).toEqual([second]);
    expect(idsOf(await list(new URLSearchParams({ id: first, url: chosen[1].url })))).toEqual([]);
    expect(idsOf(await list(new URLSearchParams({ id: first, filter: `obj.url == "none"` }))).length).toBe(0);
    for (const text of ['"', '\\', "'] || true", 'ü\u{1F600}\n', '\0', ''])
      for (const name of ['id', 'url'])
        expect(idsOf(await list(new URLSearchParams({ [name]: text }))), text).toEqual([]);
    for (const name of ['id', 'url'])
      expect(await account.call('GET', `/endpoints?${name}=x`)).toMatchObject({
        status: 400,
        body: { error_code: 'ERR_GATEWAY_231' },
      });
  });
});

test('the version header of the specification asks for the documented dialect, whatever comes beside it', async () => {
  const { id } = await newCloudEndpoint();
  const both = { headers: { 'service-version': '2', 'other-version': '2' } };
  expect(Object.keys((await account.call('GET', `/endpoints/${id}`, undefined, both)).body)).toEqual(ENDPOINT);
});

test('what a bot user may do is no member of it, and is at a path of its own', async () => {
  const { body: bot } = await account.call('POST', '/bot_users', { name: 'reader' });
  expect(Object.keys(bot)).toEqual(['id', 'uri', 'name', 'active', 'created_at']);
  const rights = `/bot_users/${bot.id}/rights`;
  expect((await account.call('GET', rights)).body).toEqual({ may_read_bodies: false });
  expect((await account.call('PATCH', rights, { may_read_bodies: true })).body).toEqual({ may_read_bodies: true });
  expect((await account.call('PATCH', rights, {})).body).toEqual({ may_read_bodies: true });
  const query = `{ botUser(id: "${bot.id}") { mayReadBodies } }`;
  expect((await account.graphql(query)).body.data.botUser).toEqual({ mayReadBodies: true });
  expect(await account.call('PATCH', `/bot_users/${bot.id}`, { may_read_bodies: false })).toMatchObject({
    status: 400,
    body: { error_code: 'ERR_GATEWAY_214' },
  });
});

describe('older clients', () => {
  test('page by beforeId, which nobody else has', async () => {
    const ids = [];
    for (const description of ['first', 'second']) {
      const { body } = await account.call('POST', '/credentials', { description });
      ids.push(body.id);
    }
    const path = `/credentials?limit=1&beforeId=${ids[1]}`;
    const { body } = await account.call('GET', path, undefined, extended);
    expect(body.credentials.map(({ id }: { id: string }) => id)).toEqual([ids[0]]);
    expect(await account.call('GET', `${path}&before_id=${ids[1]}`, undefined, extended)).toMatchObject({
      status: 400,
      body: { error_code: `${FOREIGN_ERROR_PREFIX}232` },
    });
    expect(await account.call('GET', path)).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_231' } });
  });

  test('wrap the module of a PUT, which nobody else may', async () => {
    const { body: edge } = await account.call('POST', '/edges/https', {});
    const match = { match_type: 'path_prefix', match: '/' };
    const { body: route } = await account.call('POST', `/edges/https/${edge.id}/routes`, match);
    const path = `/edges/https/${edge.id}/routes/${route.id}/circuit_breaker`;
    const wrapped = { edge_id: edge.id, id: route.id, module: { enabled: false, num_buckets: 3 } };
    expect(await account.call('PUT', path, wrapped, extended)).toMatchObject({
      status: 200,
      body: { enabled: false, num_buckets: 3 },
    });
    expect(await account.call('PUT', path, { num_buckets: 4 }, extended)).toMatchObject({ body: { num_buckets: 4 } });
    const refused = (prefix: string) => ({ status: 400, body: { error_code: `${prefix}214` } });
    expect(await account.call('PUT', path, wrapped)).toMatchObject(refused('ERR_GATEWAY_'));
    for (const wrong of [{ module: 5 }, { module: [] }, { module: { colour: 1 } }, { module: {}, colour: 1 }])
      expect(await account.call('PUT', path, wrong, extended)).toMatchObject(refused(FOREIGN_ERROR_PREFIX));
    expect((await account.call('PUT', path, { ...wrapped, id: edge.id }, extended)).status).toBe(400);
  });

  test('are told where a reserved domain leads, and may name nothing but everywhere', async () => {
    const body = { domain: 'resolves.dialects.example.com', resolves_to: [{ value: 'global' }] };
    const created = await account.call('POST', '/reserved_domains', body, extended);
    expect(created).toMatchObject({ status: 201, body: { resolves_to: [{ value: 'global' }] } });
    const path = `/reserved_domains/${created.body.id}`;
    const changed = await account.call('PATCH', path, { resolves_to: [], metadata: 'a' }, extended);
    expect(changed).toMatchObject({ status: 200, body: { resolves_to: [{ value: 'global' }] } });
    expect((await account.call('GET', path)).body).not.toHaveProperty('resolves_to');
    const elsewhere = { resolves_to: [{ value: 'global' }, { value: 'eu' }] };
    expect(await account.call('PATCH', path, elsewhere, extended)).toMatchObject({
      status: 400,
      body: { error_code: 'ERR_GATEWAY_90387', msg: expect.stringMatching(/^resolves_to\[1\]\.value /) },
    });
  });
});
