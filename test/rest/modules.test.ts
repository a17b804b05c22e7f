import assert from 'node:assert/strict';
// What modules of edges and routes keep to themselves, what they have in common, and what lies on their limits.

import { beforeAll, describe, expect, test } from 'vitest';
import { basicAuthModule } from '../../src/edge/modules/basic-auth.ts';
import { webhookVerificationModule } from '../../src/edge/modules/webhook-verification.ts';
import { storedModule } from '../../src/store/edges/module-rows.ts';
import { openModule } from '../../src/store/edges/module-secrets.ts';
import { authorityPem } from '../contract/rows/certificates.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

const created = async (path: string, body: object = {}) => {
  const answer = await account.call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const newEdge = async () => (await created('/edges/https')).id as string;
/** @returns the id of a new route of a new edge, and its path. */
async function newRoute(modules: object = {}): Promise<{ id: string; path: string }> {
  const edge = await newEdge();
  const { id } = await created(`/edges/https/${edge}/routes`, { match_type: 'path_prefix', match: '/', ...modules });
  return { id, path: `/edges/https/${edge}/routes/${id}` };
}
const put = (path: string, body: object) => account.call('PUT', path, body);
const read = async (path: string) => (await account.call('GET', path)).body;
const refused = (status: number, number: number) => ({ status, body: { error_code: `ERR_GATEWAY_${number}` } });
/** What the database has of the modules of a route, and what their secrets are bound to. */
async function row(id: string) {
  const { modules, accountId } = await gateway.app.prisma.route.findUniqueOrThrow({ where: { id } });
  return { modules, owner: { table: 'route', id, accountId } as const };
}

describe('the secret of webhooks', () => {
  const stored = async (id: string) => {
    const { modules, owner } = await row(id);
    expect(JSON.stringify(modules)).not.toContain('secret of');
    const sealed = storedModule({ modules }, webhookVerificationModule);
    return sealed && openModule(gateway.app.keys, owner, webhookVerificationModule, sealed);
  };

  test('is shown to whoever sets it, and to nobody afterwards', async () => {
    const { id, path } = await newRoute();
    const module = `${path}/webhook_verification`;
    const answer = await put(module, { provider: 'github', secret: 'secret of github' });
    expect(answer.body).toEqual({ enabled: true, provider: 'github', secret: 'secret of github' });
    expect(await read(module)).toEqual({ enabled: true, provider: 'github', secret: null });
    expect((await read(path)).webhook_verification.secret).toBeNull();
    expect(await stored(id)).toMatchObject({ provider: 'github', secret: 'secret of github' });
  });

  test('stays when it is left out, as long as the provider is the same', async () => {
    const { id, path } = await newRoute({ webhook_verification: { provider: 'github', secret: 'secret of github' } });
    const module = `${path}/webhook_verification`;
    expect((await put(module, { provider: 'github', enabled: false })).body.secret).toBeNull();
    expect(await stored(id)).toEqual({ enabled: false, provider: 'github', secret: 'secret of github' });
    expect(await put(module, { provider: 'gitlab' })).toMatchObject(refused(400, 2234));
    expect(await stored(id)).toMatchObject({ provider: 'github' });
    await account.call('DELETE', module);
    expect(await put(module, { provider: 'github' })).toMatchObject(refused(400, 2234));
  });

  test('opens for its own route only', async () => {
    const { id } = await newRoute({ webhook_verification: { provider: 'github', secret: 'secret of github' } });
    const { modules, owner } = await row(id);
    const sealed = storedModule({ modules }, webhookVerificationModule);
    assert(sealed);
    const open = (where: typeof owner) => openModule(gateway.app.keys, where, webhookVerificationModule, sealed);
    expect(open(owner)).toMatchObject({ secret: 'secret of github' });
    expect(() => open({ ...owner, id: 'edghtsrt_other' })).toThrow();
  });
});

describe('passwords', () => {
  const stored = async (id: string) => {
    const { modules, owner } = await row(id);
    expect(JSON.stringify(modules)).not.toContain('password of');
    const sealed = storedModule({ modules }, basicAuthModule);
    assert(sealed);
    const { credentials } = openModule(gateway.app.keys, owner, basicAuthModule, sealed);
    return credentials.map(({ username, password }) => [username, password]);
  };

  test('are never shown, and stay for user names that stay', async () => {
    const { id, path } = await newRoute();
    const module = `${path}/basic_auth`;
    const both = [
      { username: 'ada', password: 'password of ada' },
      { username: 'bob', password: 'password of bob' },
    ];
    expect((await put(module, { credentials: both })).text).not.toContain('password');
    expect(await put(module, { credentials: [{ username: 'bob' }, { username: 'cyd' }] })).toMatchObject(
      refused(400, 2258),
    );
    const cyd = { username: 'cyd', password: 'password of cyd' };
    expect(await put(module, { realm: 'lab', credentials: [{ username: 'bob' }, cyd] })).toMatchObject({ status: 200 });
    expect((await read(path)).basic_auth).toEqual({
      enabled: true,
      realm: 'lab',
      credentials: [{ username: 'bob' }, { username: 'cyd' }],
    });
    expect(await stored(id)).toEqual([
      ['bob', 'password of bob'],
      ['cyd', 'password of cyd'],
    ]);
  });
});

describe('a policy has two shapes, and is one module', () => {
  const rule = { name: 'shut', expressions: ["req.method == 'PUT'"], actions: [{ type: 'deny', config: null }] };

  test('the older one is stored as the present one', async () => {
    const { path } = await newRoute();
    const smaller = { ...rule, actions: [{ type: 'compress-response', config: null }] };
    await put(`${path}/policy`, { enabled: false, inbound: [rule], outbound: [smaller] });
    const { enabled, value } = await read(`${path}/traffic_policy`);
    expect(enabled).toBe(false);
    expect(JSON.parse(value)).toEqual({ inbound: [rule], outbound: [smaller] });
  });

  test('the present one is shown as the older one', async () => {
    const { path } = await newRoute();
    const value = 'on_http_request: # a comment\n  - actions: [{ type: deny }]\n';
    expect((await put(`${path}/traffic_policy`, { value })).body).toEqual({ enabled: true, value });
    const everybody = { name: '', expressions: [], actions: [{ type: 'deny', config: null }] };
    expect(await read(`${path}/policy`)).toEqual({ enabled: true, inbound: [everybody], outbound: [] });
  });

  test('a document that says it is off is shown as off', async () => {
    const { path } = await newRoute({ traffic_policy: { value: '{"enabled":false,"inbound":[]}' } });
    expect((await read(`${path}/policy`)).enabled).toBe(false);
  });

  test('whichever is unset, both are', async () => {
    const { path } = await newRoute({ policy: { inbound: [rule] } });
    expect(await account.call('DELETE', `${path}/policy`)).toMatchObject({ status: 204 });
    expect(await account.call('GET', `${path}/traffic_policy`)).toMatchObject(refused(404, 90021));
  });

  test('an error names every problem, and has the number of the first', async () => {
    const { path } = await newRoute();
    const value = JSON.stringify({
      on_http_request: [
        { expressions: ['req.methud == "PUT"'], actions: [{ type: 'deny' }] },
        { actions: [{ type: 'denny' }] },
      ],
    });
    const { status, body } = await put(`${path}/traffic_policy`, { value });
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: 'ERR_GATEWAY_2200' });
    expect(body.msg).toMatch(/on_http_request\[0\]\.expressions\[0\].*req\.method/);
    expect(body.msg).toMatch(/on_http_request\[1\]\.actions\[0\]\.type/);
  });
});

describe('mutual TLS and TLS that goes through', () => {
  let certificate_authority_ids: string[];
  beforeAll(async () => {
    certificate_authority_ids = [(await created('/certificate_authorities', { ca_pem: await authorityPem() })).id];
  });
  const passing = { terminate_at: 'upstream' };

  test('do not go together, whichever comes second', async () => {
    const first = (await created('/edges/tls', { tls_termination: passing })).id;
    expect(await put(`/edges/tls/${first}/mutual_tls`, { certificate_authority_ids })).toMatchObject(
      refused(400, 7062),
    );
    expect((await read(`/edges/tls/${first}`)).mutual_tls).toBeNull();
    const second = (await created('/edges/tls', { mutual_tls: { certificate_authority_ids } })).id;
    expect(await put(`/edges/tls/${second}/tls_termination`, passing)).toMatchObject(refused(400, 7062));
    expect(await account.call('PATCH', `/edges/tls/${second}`, { tls_termination: passing })).toMatchObject(
      refused(400, 7062),
    );
  });

  test('go together where one of them is off', async () => {
    const { id } = await created('/edges/tls', { mutual_tls: { certificate_authority_ids } });
    expect(await put(`/edges/tls/${id}/tls_termination`, { ...passing, enabled: false })).toMatchObject({
      status: 200,
    });
    expect(await put(`/edges/tls/${id}/mutual_tls`, { certificate_authority_ids, enabled: false })).toMatchObject({
      status: 200,
    });
    expect(await put(`/edges/tls/${id}/tls_termination`, passing)).toMatchObject({ status: 200 });
    expect(await put(`/edges/tls/${id}/mutual_tls`, { certificate_authority_ids })).toMatchObject(refused(400, 7062));
  });
});

test('what lies on a limit is taken, and given back as it was', async () => {
  const { path } = await newRoute();
  const many = (count: number) => Array.from({ length: count }, (_, index) => `x-${index}`);
  const policies = await Promise.all(many(10).map(async () => (await created('/ip_policies')).id as string));
  const headers = {
    add: { ...Object.fromEntries(many(49).map((name) => [name, ''])), [`x${'-'.repeat(127)}`]: 'é'.repeat(4096) },
    remove: many(50),
  };
  const signIn = {
    issuer: `https://id.example.com/${'x'.repeat(232)}`,
    client_id: 'é'.repeat(256),
    client_secret: 'é'.repeat(256),
    scopes: many(20),
    options_passthrough: true,
    cookie_prefix: 'x'.repeat(64),
    inactivity_timeout: 31_536_000,
    maximum_duration: 31_536_000,
  };
  const largest: [string, object, object?][] = [
    [
      'ip_restriction',
      { ip_policy_ids: policies },
      { ip_policies: policies.map((id) => ({ id, uri: `${gateway.api}/ip_policies/${id}` })) },
    ],
    ['request_headers', headers],
    ['response_headers', headers],
    ['user_agent_filter', { allow: many(100), deny: [`(?i)${'é'.repeat(510)}`] }],
    ['webhook_verification', { provider: 'github', secret: 'é'.repeat(2048) }],
    [
      'basic_auth',
      {
        realm: 'x'.repeat(128),
        credentials: many(10).map((name, index) => ({ username: name, password: 'x'.repeat(index % 2 ? 8 : 128) })),
      },
      { realm: 'x'.repeat(128), credentials: many(10).map((username) => ({ username })) },
    ],
    ['oidc', signIn, { ...signIn, client_secret: null }],
  ];
  for (const [module, body, shown = body] of largest) {
    const answer = await put(`${path}/${module}`, body);
    expect(answer.body, module).toEqual({ enabled: true, ...shown });
  }
});
