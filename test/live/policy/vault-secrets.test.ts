// Secrets of vaults in traffic policies: what they are read for takes effect at once, stays within the account, and is shown nowhere.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { afterAll, beforeAll, expect, test } from 'vitest';
import { waiting } from '../../events/waiting.ts';
import type { Account } from '../../support/gateway/gateway.ts';
import { newRoute, type PolicyLab, startPolicyLab } from './lab.ts';
import { as } from './secrets-lab.ts';

const HOST = 'vaults.tunnel.localhost';
const VALUE = 'canary-8b1f6d0c2a9e4753';
const labels = { app: 'vaults' };

let lab: PolicyLab;
let route: string;
beforeAll(async () => {
  lab = await startPolicyLab();
  route = await newRoute(lab, HOST, labels);
  await lab.labelled(labels);
});
afterAll(() => lab?.close());

/** Makes a secret. @returns its path. */
async function newSecret(vault: string, name: string, value: string, owner: Account = lab.account): Promise<string> {
  await owner.call('POST', '/vaults', { name: vault });
  const { status, body, text } = await owner.call('POST', '/vault_secrets', { vault_name: vault, name, value });
  expect(status, text).toBe(201);
  return new URL(body.uri).pathname;
}

const header = (value: string, expressions: string[] = []) =>
  JSON.stringify({
    on_http_request: [
      { expressions, actions: [{ type: 'add-headers', config: { headers: { 'x-upstream': value } } }] },
    ],
  });
const put = (value: string) => lab.account.call('PUT', `${route}/traffic_policy`, { value });
const visit = (options = {}) => lab.visit(`https://${HOST}/`, options);
const sent = () => lab.upstream.asked.at(-1)?.headers['x-upstream'];

test('the upstream gets a secret, and another value of it from the next request on', async () => {
  const secret = await newSecret('upstream', 'key', VALUE);
  expect((await put(header("Bearer ${secrets.get('upstream', 'key')}"))).status).toBe(200);
  expect(await visit()).toMatchObject({ status: 200 });
  expect(sent()).toBe(`Bearer ${VALUE}`);
  await lab.account.call('PATCH', secret, { value: 'another' });
  expect(await visit()).toMatchObject({ status: 200 });
  expect(sent()).toBe('Bearer another');
});

test('a secret tells which policies read it, also where they read it for a secret of their own', async () => {
  const id = (await newSecret('used', "it's", VALUE)).split('/').at(-1);
  const used = async () =>
    (await lab.account.graphql('query ($id: ID!) { secret(id: $id) { usedBy { id uri } } }', { id })).body;
  expect(await used()).toEqual({ data: { secret: { usedBy: [] } } });
  const usedBy = [{ id: route.split('/').at(-1), uri: expect.stringMatching(new RegExp(`${route}$`)) }];
  const password = "office:${secrets.get('used', 'it\\'s')}";
  const signing = { on_http_request: [{ actions: [{ type: 'basic-auth', config: { credentials: [password] } }] }] };
  for (const policy of [header('${secrets . get("used", "it\'s")}'), JSON.stringify(signing)]) {
    expect((await put(policy)).status).toBe(200);
    expect(await used()).toEqual({ data: { secret: { usedBy } } });
  }
  expect((await put(header("secrets.get('used', 'other')"))).status).toBe(200);
  expect(await used()).toEqual({ data: { secret: { usedBy: [] } } });
});

test('a condition reads one, at an edge and at a tunnel', async () => {
  await newSecret('gate', 'token', VALUE);
  const policy = header('let in', ["getReqHeader('x-token') == [secrets.get('gate', 'token')]"]);
  expect((await put(policy)).status).toBe(200);
  const url = 'https://vaults-tunnel.tunnel.localhost';
  await lab.tunnel('https', new URL(url).hostname, policy);
  for (const visited of [visit, (options = {}) => lab.visit(url, options)]) {
    await visited({ headers: { 'x-token': VALUE } });
    expect(sent()).toBe('let in');
    await visited({ headers: { 'x-token': '<secret>' } });
    expect(sent()).toBeUndefined();
  }
});

test('a password may be one: the policy shows which, and nobody the password', async () => {
  const secret = await newSecret('people', 'office', 'battery staple');
  const value = JSON.stringify({
    on_http_request: [
      { actions: [{ type: 'basic-auth', config: { credentials: ["office:${secrets.get('people', 'office')}"] } }] },
    ],
  });
  expect((await put(value)).body).toEqual({ enabled: true, value });
  expect(await visit(as('office', 'battery staple'))).toMatchObject({ status: 200 });
  await lab.account.call('PATCH', secret, { value: 'correct horse' });
  expect(await visit(as('office', 'battery staple'))).toMatchObject({ status: 401 });
  expect(await visit(as('office', 'correct horse'))).toMatchObject({ status: 200 });
});

test('a secret that is not there is refused by name, also when another account has it', async () => {
  const other = await lab.gateway.newAccount();
  await newSecret('foreign', 'key', VALUE, other);
  for (const [vault, name] of [
    ['foreign', 'key'],
    ['upstream', 'nothing'],
    ['nowhere', 'key'],
  ]) {
    const refused = await put(header(`\${secrets.get('${vault}', '${name}')}`));
    expect(refused.status).toBe(400);
    expect(refused.body.error_code).toBe('ERR_GATEWAY_90709');
    expect(refused.body.msg).toContain(
      `on_http_request[0].actions[0].config.headers.x-upstream reads a secret "${name}" in a vault "${vault}"`,
    );
  }
  const computed = await put(header("${secrets.get('upstream', req.method)}"));
  expect(computed.status).toBe(400);
  expect(computed.body.msg).toContain("must name its secret in quotes, as in secrets.get('vault', 'secret')");
});

test('a visitor whose policy reads a deleted or renamed secret is turned away, until there is one of the name again', async () => {
  const secret = await newSecret('short', 'lived', VALUE);
  expect((await put(header("${secrets.get('short', 'lived')}"))).status).toBe(200);
  expect(await visit()).toMatchObject({ status: 200 });
  await lab.account.call('PATCH', secret, { name: 'renamed' });
  expect(await visit()).toMatchObject({ status: 500, body: expect.stringContaining('ERR_GATEWAY_2238') });
  await lab.account.call('PATCH', secret, { name: 'lived' });
  expect(await visit()).toMatchObject({ status: 200 });
  await lab.account.call('DELETE', secret);
  expect(await visit()).toMatchObject({ status: 500 });
  await newSecret('short', 'lived', 'again');
  expect(await visit()).toMatchObject({ status: 200 });
  expect(sent()).toBe('again');
});

test('a tunnel meets only the secrets of its own account', async () => {
  const other = await lab.gateway.newAccount();
  await newSecret('isolated', 'key', VALUE, other);
  const url = 'https://vaults-isolated.tunnel.localhost';
  await lab.tunnel('https', new URL(url).hostname, header("${secrets.get('isolated', 'key')}"));
  expect(await lab.visit(url)).toMatchObject({ status: 500 });
});

test('a trial run shows no secret, however a policy turns it', async () => {
  await newSecret('trial', 'key', VALUE);
  const policy = JSON.stringify({
    on_http_request: [
      {
        expressions: ["secrets.get('trial', 'key').startsWith('canary')"],
        actions: [{ type: 'deny' }],
      },
      {
        actions: [
          { type: 'set-vars', config: { vars: [{ plain: "${secrets.get('trial', 'key')}" }] } },
          { type: 'log', config: { metadata: { turned: "${base64.encode(bytes(secrets.get('trial', 'key')))}" } } },
          { type: 'custom-response', config: { status_code: 200, body: "${secrets.get('trial', 'key')}" } },
        ],
      },
    ],
  });
  const { body, text } = await lab.account.graphql(
    `query ($policy: String!) {
      evaluatePolicy(policy: $policy, request: { url: "https://app.example.com/" }) {
        problems { message } rules { state actions { effects } } notes outcome { kind response { body } }
      }
    }`,
    { policy },
  );
  expect(body.data?.evaluatePolicy, text).toMatchObject({
    problems: [],
    rules: [{ state: 'UNMATCHED' }, { state: 'MATCHED' }],
    outcome: { response: { body: '<secret>' } },
  });
  expect(text).not.toContain(VALUE);
  expect(text).not.toContain(Buffer.from(VALUE).toString('base64'));
});

test('what a policy logs, and why it fails, has a mask in place of a secret', async () => {
  await newSecret('logged', 'key', VALUE);
  const { batches } = await waiting(lab.gateway, lab.account);
  const policy = JSON.stringify({
    on_http_request: [
      { actions: [{ type: 'log', config: { metadata: { key: "it is ${secrets.get('logged', 'key')}" } } }] },
      { expressions: ["timestamp(secrets.get('logged', 'key')) < timestamp(time.now)"], actions: [{ type: 'deny' }] },
    ],
  });
  expect((await put(policy)).status).toBe(200);
  expect(await visit()).toMatchObject({ status: 500 });
  const { logs } = lab.gateway;
  expect(logs.filter((line) => line.includes('it is <secret>'))).toHaveLength(1);
  expect(logs.filter((line) => line.includes('timestamp(secrets.get') && line.includes('rejected'))).toHaveLength(1);
  expect(JSON.stringify([logs, await batches()])).not.toContain(VALUE);
});
