// What clients in the field send along without meaning anything by it: every member of a type, with "" or {} for what was
// not given, and what the path says already.

import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, sharedGateway } from '../support/gateway/gateway.ts';

let account: Account;
beforeAll(async () => {
  account = await (await sharedGateway()).newAccount();
});

const created = async (path: string, body: object = {}) => {
  const answer = await account.call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const changed = async (path: string, body: object) => {
  const answer = await account.call('PATCH', path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const refused = (number: number, member: string) => ({
  status: 400,
  body: { error_code: `ERR_GATEWAY_${number}`, msg: expect.stringMatching(`\\b${member} `) },
});

describe('routes', () => {
  let edge: string;
  let routes: string;
  beforeAll(async () => {
    edge = (await created('/edges/https')).id;
    routes = `/edges/https/${edge}/routes`;
  });
  const route = { match_type: 'exact_path', match: '/a' };

  test('an empty match and match type keep what is there', async () => {
    const { id } = await created(routes, { ...route, description: 'before' });
    const body = { match_type: '', match: '', description: '', metadata: 'after' };
    expect(await changed(`${routes}/${id}`, body)).toMatchObject({ ...route, description: '', metadata: 'after' });
    expect(await account.call('POST', routes, { match_type: '', match: '/b' })).toMatchObject(
      refused(90007, 'match_type'),
    );
  });

  test('ids that equal those of the path are accepted, and no others', async () => {
    const { id } = await created(routes, { edge_id: edge, match_type: 'path_prefix', match: '/ids' });
    const path = `${routes}/${id}`;
    expect(await changed(path, { id, edge_id: edge, metadata: 'a' })).toMatchObject({ id, metadata: 'a' });
    expect(await changed(path, { id: null, edge_id: '', metadata: 'b' })).toMatchObject({ id, metadata: 'b' });
    expect(await account.call('PATCH', path, { id: edge })).toMatchObject(refused(90350, 'id'));
    expect(await account.call('PATCH', path, { edge_id: 5 })).toMatchObject(refused(90350, 'edge_id'));
    expect(await account.call('POST', routes, { ...route, id })).toMatchObject(refused(214, 'id'));
    const module = { id, edge_id: edge, enabled: false };
    expect(await account.call('PUT', `${path}/compression`, module)).toMatchObject({ body: { enabled: false } });
  });

  test('a module of a kind that does not exist here may be null', async () => {
    const { id } = await created(routes, { match_type: 'path_prefix', match: '/saml', saml: null });
    expect(await changed(`${routes}/${id}`, { saml: null, metadata: 'a' })).toMatchObject({ metadata: 'a' });
    expect(await account.call('PATCH', `${routes}/${id}`, { saml: { enabled: true } })).toMatchObject(
      refused(90351, 'saml'),
    );
  });

  test('modules by which visitors sign in come with their route, and members of other providers may be null', async () => {
    const app = { client_id: 'app', client_secret: 'secret', scopes: null, email_addresses: [], teams: null };
    const provider = { github: app, google: null, facebook: null };
    const times = { inactivity_timeout: 0, maximum_duration: null, auth_check_interval: 0 };
    const oauth = { enabled: null, provider, cookie_prefix: null, options_passthrough: null, ...times };
    const { id } = await created(routes, { match_type: 'path_prefix', match: '/oauth', oauth, oidc: null });
    const shown = await changed(`${routes}/${id}`, { oauth: null, metadata: 'a' });
    expect(shown.oauth).toMatchObject({ enabled: true, inactivity_timeout: 259_200, maximum_duration: 1_209_600 });
    expect(shown.oauth.provider).toMatchObject({ github: { client_id: 'app', client_secret: null }, google: null });
  });

  test('providers of webhooks are known in any case', async () => {
    const { id } = await created(routes, { match_type: 'path_prefix', match: '/hooks' });
    const path = `${routes}/${id}/webhook_verification`;
    const answer = await account.call('PUT', path, { provider: 'GITHUB', secret: 'a' });
    expect(answer.body).toEqual({ enabled: true, provider: 'github', secret: 'a' });
    // The secret stays: it is the same provider.
    expect(await account.call('PUT', path, { provider: 'GitHub' })).toMatchObject({ status: 200 });
    expect(await account.call('PUT', path, { provider: 'GIT HUB', secret: 'a' })).toMatchObject({ status: 400 });
  });

  test('webhooks of Amazon SNS need no secret, and one is not kept', async () => {
    const { id } = await created(routes, { match_type: 'path_prefix', match: '/sns' });
    const path = `${routes}/${id}/webhook_verification`;
    const sns = { enabled: true, provider: 'sns', secret: null };
    for (const provider of ['sns', 'SNS']) expect((await account.call('PUT', path, { provider })).body).toEqual(sns);
    for (const secret of [null, '', 'a secret'])
      expect((await account.call('PUT', path, { provider: 'sns', secret })).body).toEqual({ ...sns, secret });
    expect((await account.call('GET', path)).body).toEqual(sns);
    expect(await changed(`${routes}/${id}`, { webhook_verification: { provider: 'sns' } })).toMatchObject({
      webhook_verification: sns,
    });
    expect(await account.call('PUT', path, { provider: 'github' })).toMatchObject(refused(2234, 'secret'));
    const github = { provider: 'github', secret: 'a secret' };
    expect(await account.call('PUT', path, github)).toMatchObject({ status: 200 });
    expect((await account.call('PUT', path, { provider: 'sns' })).body).toEqual(sns);
    expect(await account.call('PUT', path, { provider: 'github' })).toMatchObject(refused(2234, 'secret'));
    await created(routes, { match_type: 'path_prefix', match: '/sns2', webhook_verification: { provider: 'sns' } });
  });

  test('names of header fields are shown in lower case', async () => {
    const { id } = await created(routes, { match_type: 'path_prefix', match: '/headers' });
    const path = `${routes}/${id}`;
    const shown = { enabled: true, add: { 'x-site': 'Berlin' }, remove: ['x-trace'] };
    for (const side of ['request_headers', 'response_headers']) {
      const answer = await account.call('PUT', `${path}/${side}`, { add: { 'X-Site': 'Berlin' }, remove: ['X-Trace'] });
      expect(answer.body).toEqual(shown);
      expect((await account.call('GET', `${path}/${side}`)).body).toEqual(shown);
      expect((await account.call('GET', path)).body[side]).toEqual(shown);
      const twice = { add: { 'X-Site': 'a', 'x-site': 'b' } };
      expect(await account.call('PUT', `${path}/${side}`, twice)).toMatchObject(refused(90352, 'add'));
    }
  });
});

test('labels of a tunnel group that are empty keep what is there', async () => {
  const { id } = await created('/backends/tunnel_group', { labels: { app: 'shop' }, description: 'before' });
  const path = `/backends/tunnel_group/${id}`;
  expect(await changed(path, { id, labels: {}, description: 'after' })).toMatchObject({
    labels: { app: 'shop' },
    description: 'after',
  });
  expect(await account.call('POST', '/backends/tunnel_group', { labels: {} })).toMatchObject(refused(90054, 'labels'));
});

test('an address of a static backend that is empty keeps what is there', async () => {
  const { id } = await created('/backends/static', { address: 'api.example.com:443' });
  expect(await changed(`/backends/static/${id}`, { address: '', metadata: 'a' })).toMatchObject({
    address: 'api.example.com:443',
    metadata: 'a',
  });
  expect(await account.call('POST', '/backends/static', { address: '' })).toMatchObject(refused(90668, 'address'));
});

test('what domains were configured by before there were edges may be null or empty', async () => {
  const nothing = { http_endpoint_configuration_id: null, https_endpoint_configuration_id: '' };
  const { id } = await created('/reserved_domains', { domain: 'legacy.existing-clients.example.com', ...nothing });
  expect(await changed(`/reserved_domains/${id}`, { ...nothing, metadata: 'a' })).toMatchObject({ metadata: 'a' });
  for (const member of Object.keys(nothing))
    expect(await account.call('PATCH', `/reserved_domains/${id}`, { [member]: 'ec_1' })).toMatchObject(
      refused(90351, member),
    );
});

describe('what the original service has and this gateway has not', () => {
  const absent: [string, string][] = [
    ...['/abuse_reports', '/ai_gateway_api_keys'].map((path): [string, string] => [
      path,
      path.slice(1).replaceAll('_', ' '),
    ]),
    ...['credentials', 'certificate_authorities', 'host_certificates', 'user_certificates'].map(
      (what): [string, string] => [`/ssh_${what}`, `SSH ${what.replaceAll('_', ' ')}`],
    ),
    ['/edges/https/edghts_1/routes/edghtsrt_1/saml', 'SAML modules'],
  ];
  test.each(absent)('%s is not found, and the text says so', async (path, what) => {
    const words = new RegExp(`${what.replace('ai gateway api keys', 'AI gateway')}.* not exist`, 'i');
    const answer = { status: 404, body: { error_code: 'ERR_GATEWAY_90353', msg: expect.stringMatching(words) } };
    const [collection, one] = [path, `${path}/x_1`];
    for (const [method, asked] of [
      ['GET', collection],
      ['POST', collection],
      ['GET', one],
      ['PATCH', one],
      ['PUT', one],
      ['DELETE', one],
    ] as const)
      expect(await account.call(method, asked, method.startsWith('P') ? {} : undefined)).toMatchObject(answer);
  });
});

describe('what the Kubernetes operator asks for', () => {
  const extended = { dialect: 'extended' } as const;
  const ask = (method: string, path: string, body?: object) => account.call(method, path, body, extended);

  test('it registers, finds itself, changes what it says, and leaves', async () => {
    const deployment = { name: 'tunnel-operator', namespace: 'tunnel-operator', version: '0.18.0', cluster_name: '' };
    const made = await ask('POST', '/kubernetes_operators', {
      ...{ metadata: '{"namespace.uid":"b0c2"}', description: 'Created by the operator', region: 'global' },
      ...{ enabled_features: ['ingress', 'gateway'], deployment },
    });
    expect(made.status, made.text).toBe(201);
    const { id } = made.body;
    expect(made.body).toMatchObject({ deployment, binding: null, principal: { id: account.ownerId } });
    const { body: listed } = await ask('GET', '/kubernetes_operators');
    expect(listed.operators).toEqual([made.body]);
    const change = {
      id,
      metadata: '{}',
      enabled_features: ['gateway'],
      deployment: { ...deployment, version: '0.19.0' },
    };
    const { body } = await ask('PATCH', `/kubernetes_operators/${id}`, change);
    expect(body).toMatchObject({ ...change, region: 'global' });
    expect((await ask('GET', `/kubernetes_operators/${id}/bound_endpoints`)).body).toMatchObject({
      endpoints: [],
      next_page_uri: null,
    });
    expect((await ask('DELETE', `/kubernetes_operators/${id}`)).status).toBe(204);
    expect((await ask('GET', `/kubernetes_operators/${id}/bound_endpoints`)).status).toBe(404);
  });

  test('bindings are refused in words', async () => {
    const binding = { endpoint_selectors: ['true'], csr: '-----BEGIN CERTIFICATE REQUEST-----' };
    for (const body of [{ binding }, { enabled_features: ['Bindings'] }])
      expect(await ask('POST', '/kubernetes_operators', body)).toMatchObject({
        status: 400,
        body: { error_code: 'ERR_GATEWAY_90613', msg: expect.stringMatching(/brings no endpoints into Kubernetes/) },
      });
  });

  test('endpoints of an Ingress, a Gateway, and services of TCP and TLS', async () => {
    await created('/reserved_domains', { domain: '*.operator.example.com' });
    const { addr } = await created('/reserved_addrs');
    const requests = JSON.stringify({
      on_http_request: [
        {
          name: 'Generated',
          actions: [{ type: 'forward-internal', config: { url: 'https://a-b-default-80.internal' } }],
        },
      ],
    });
    const connections = JSON.stringify({
      on_tcp_connect: [
        {
          name: 'Generated',
          actions: [{ type: 'forward-internal', config: { url: 'tcp://a-b-default-22.internal:22' } }],
        },
      ],
    });
    const urls: [url: string, policy: string][] = [
      ['https://ingress.operator.example.com', requests],
      ['http://ingress.operator.example.com', requests],
      ['tls://db.operator.example.com:443', connections],
      [`tcp://${addr}`, connections],
      ['https://web.default.internal:8443', requests],
      ['tcp://ssh.default.internal:22', connections],
    ];
    for (const [url, traffic_policy] of urls) {
      const bindings = [url.includes('.internal') ? 'internal' : 'public'];
      const given = {
        url,
        traffic_policy,
        bindings,
        description: 'Created by the operator',
        metadata: '{"owned-by":"operator"}',
      };
      const made = await ask('POST', '/endpoints', { type: 'cloud', ...given });
      expect(made.body, made.text).toMatchObject({ ...given, type: 'cloud', pooling_enabled: false });
      const again = await ask('PATCH', `/endpoints/${made.body.id}`, {
        id: made.body.id,
        ...given,
        pooling_enabled: true,
      });
      expect(again.body, again.text).toMatchObject({ ...given, pooling_enabled: true });
      const beside = await ask('POST', '/endpoints', { type: 'cloud', ...given, pooling_enabled: true });
      expect(beside.status, beside.text).toBe(201);
    }
  });
});

test('a destination in Azure has a text where other clients read null', async () => {
  const azure = {
    ...{ tenant_id: '4f9b3a52-0c1d-4b8e-9c40-0123456789ab', client_id: '9d2c7b61-5a3e-4f70-8b21-ba9876543210' },
    ...{ client_secret: 'a-secret', data_collection_stream_name: 'Custom-Gateway_CL' },
    logs_ingestion_uri: 'https://events-a1b2.westeurope-1.ingest.monitor.azure.com',
    data_collection_rule_id: 'dcr-0123456789abcdef0123456789abcdef',
  };
  const { id } = await created('/event_destinations', { target: { azure_logs_ingestion: azure } });
  for (const [dialect, secret] of [
    ['extended', ''],
    ['documented', null],
  ] as const) {
    const { body } = await account.call('GET', '/event_destinations', undefined, { dialect });
    const [{ target }] = body.event_destinations.filter((one: { id: string }) => one.id === id);
    expect(target.azure_logs_ingestion.client_secret).toBe(secret);
  }
});
