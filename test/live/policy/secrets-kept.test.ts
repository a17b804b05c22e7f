// Who sends back a policy as it is shown keeps its secrets where they stand; elsewhere they have to be given again.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { everyRow } from '../../accounts/sample-resources.ts';
import { action, onRequest } from '../../policy/documents/support.ts';
import { newIssuer } from '../../support/issuer.ts';
import { newRoute, type PolicyLab, startPolicyLab } from './lab.ts';
import { as, rules, shownRules } from './secrets-lab.ts';

const HOST = 'kept.tunnel.localhost';
const TUNNEL = 'kept-tunnel.tunnel.localhost';
const CANARY = 'canary-5d20c9b7e1f34a68';

let lab: PolicyLab;
let route: string;
beforeAll(async () => {
  lab = await startPolicyLab();
  route = await newRoute(lab, HOST);
});
beforeEach(async () => {
  expect((await put(rules(CANARY))).status).toBe(200);
});
afterAll(() => lab?.close());

const put = (policy: string | object, path = 'traffic_policy') =>
  lab.account.call('PUT', `${route}/${path}`, typeof policy === 'string' ? { value: policy } : policy);
const comes = async (user = 'office', password = CANARY) =>
  (await lab.visit(`https://${HOST}/`, as(user, password)))?.status;

const [LET_IN, TURNED_AWAY] = [502, 401]; // There is no backend.
const office = action('basic-auth', { credentials: ['office:<secret>'] });
const signed = (secret: string, provider = 'github', type = 'verify-webhook') => action(type, { provider, secret });

describe('a secret stays as it is', () => {
  test.each<[string, () => ReturnType<typeof put>]>([
    ['with another text around it', () => put(shownRules('others').replace('# who', '# we know who'))],
    ['in JSON', () => put(JSON.stringify(onRequest([office])))],
    [
      'with the mask escaped, as some write JSON',
      () => put(JSON.stringify(onRequest([office])).replace('<', '\\u003c')),
    ],
    ['without the one before it', () => put(rules('<secret>').replace(/ +- night.*\n/, ''))],
    ['without quotes', () => put(rules('<secret>').replaceAll("'", ''))],
    ['in the older shape', () => put({ inbound: [{ actions: [office] }] }, 'policy')],
    ['in a change of the route', () => lab.account.call('PATCH', route, { traffic_policy: { value: shownRules() } })],
    [
      'in a change by GraphQL',
      () =>
        lab.account.graphql(
          `mutation ($edgeId: ID!, $id: ID!, $value: String!) {
            replaceHttpsEdgeRouteTrafficPolicy(edgeId: $edgeId, id: $id, input: { value: $value }) { trafficPolicy { value } }
          }`,
          { edgeId: route.split('/')[3], id: route.split('/')[5], value: shownRules() },
        ),
    ],
  ])('%s', async (_, send) => {
    const { status, text } = await send();
    expect(status, text).toBe(200);
    expect(text).toContain('office:<secret>');
    expect(await comes()).toBe(LET_IN);
    expect(await comes('office', '<secret>')).toBe(TURNED_AWAY);
  });

  test('beside one that is new', async () => {
    const policy = shownRules().replace('night:<secret>', 'morning:another one');
    expect((await put(policy)).body.value).toBe(policy.replace('another one', '<secret>'));
    expect([await comes(), await comes('morning', 'another one')]).toEqual([LET_IN, LET_IN]);
    expect(await comes('night', 'battery staple')).toBe(TURNED_AWAY);
  });

  test('and is in no row of the database', async () => {
    expect((await put(shownRules())).status).toBe(200);
    expect((await everyRow(lab.gateway)).filter((row) => row.includes(CANARY))).toEqual([]);
  });

  test('while the module is switched off, and on again', async () => {
    const turn = (enabled: boolean) => put({ enabled, value: shownRules() });
    expect((await turn(false)).body).toEqual({ enabled: false, value: shownRules() });
    expect(await comes('nobody', 'nothing')).toBe(LET_IN);
    expect((await turn(true)).body.enabled).toBe(true);
    expect([await comes(), await comes('nobody', 'nothing')]).toEqual([LET_IN, TURNED_AWAY]);
  });
});

describe('a mask is no secret', () => {
  const config = 'on_http_request[0].actions[0].config';
  test.each<[string, string | object, string]>([
    [
      'in another rule',
      { on_http_request: [{ actions: [action('deny')], expressions: ['false'] }, { actions: [office] }] },
      'on_http_request[1].actions[0].config.credentials[0]',
    ],
    [
      'of another action',
      onRequest([action('remove-headers', { headers: ['x'] }), office]),
      'on_http_request[0].actions[1].config.credentials[0]',
    ],
    ['in an action of another type', onRequest([signed('<secret>')]), `${config}.secret`],
    [
      'of another user',
      onRequest([action('basic-auth', { credentials: ['evening:<secret>'] })]),
      `${config}.credentials[0]`,
    ],
    ['without a user', onRequest([action('basic-auth', { credentials: ['<secret>'] })]), `${config}.credentials[0]`],
    [
      'in a private key',
      {
        on_tcp_connect: [
          { actions: [action('terminate-tls', { server_certificate: 'x', server_private_key: '<secret>' })] },
        ],
      },
      'on_tcp_connect[0].actions[0].config.server_private_key',
    ],
  ])('%s', async (_, policy, place) => {
    const { status, body } = await put(JSON.stringify(policy));
    expect([status, body.error_code], body.msg).toEqual([400, 'ERR_GATEWAY_90390']);
    expect(body.msg).toContain(`value: ${place} must be the secret itself`);
    expect((await lab.account.call('GET', `${route}/traffic_policy`)).body.value).toBe(shownRules());
    expect(await comes()).toBe(LET_IN);
  });

  test('of another sender of webhooks, or of its older name', async () => {
    expect((await put(JSON.stringify(onRequest([signed(CANARY)])))).status).toBe(200);
    for (const other of [signed('<secret>', 'gitlab'), signed('<secret>', 'github', 'webhook-validation')])
      expect((await put(JSON.stringify(onRequest([other])))).body.error_code).toBe('ERR_GATEWAY_90390');
    expect((await put(JSON.stringify(onRequest([signed('<secret>')])))).status).toBe(200);
  });

  test('where nothing was stored: on a new route, after the module was unset, in the policy of a tunnel', async () => {
    const { call } = lab.account;
    const create = { match_type: 'exact_path', match: '/new', traffic_policy: { value: shownRules() } };
    const made = await call('POST', route.replace(/\/[^/]*$/, ''), create);
    expect([made.status, made.body.error_code]).toEqual([400, 'ERR_GATEWAY_90390']);
    expect((await call('DELETE', `${route}/traffic_policy`)).status).toBe(204);
    expect((await put(shownRules())).body.error_code).toBe('ERR_GATEWAY_90390');
    const refused = await lab.tunnel('https', TUNNEL, shownRules()).catch((error) => error);
    expect(refused).toMatchObject({ code: 'ERR_GATEWAY_90390' });
  });

  test('by which, and an alias, a secret could be had: nobody is told it', async () => {
    const thief = '  - actions: [{ type: custom-response, config: { body: *stolen } }]\n';
    const policy = `${shownRules().replace('"office:<secret>"', '&stolen "office:<secret>"')}${thief}`;
    expect((await put(policy)).status).toBe(200);
    const told = await lab.visit(`https://${HOST}/`, as('office', CANARY));
    expect(told).toMatchObject({ status: 200, body: 'office:<secret>' });
    const { body } = await lab.account.graphql(
      `query ($policy: String!, $request: PolicyRequestInput!, $storedIn: ID) {
        evaluatePolicy(policy: $policy, request: $request, storedIn: $storedIn) { outcome { response { body } } }
      }`,
      {
        policy,
        storedIn: route.split('/')[5],
        request: {
          url: `https://${HOST}/`,
          headers: [{ name: 'authorization', value: as('office', CANARY).headers.authorization }],
        },
      },
    );
    expect(body.data.evaluatePolicy.outcome.response.body).toBe('office:<secret>');
  });

  test('anywhere else it is a text like any other', async () => {
    const policy = onRequest([action('custom-response', { body: '<secret>' })]);
    const { body } = await put(JSON.stringify(policy));
    expect(body.value).toBe(JSON.stringify(policy));
    expect(await lab.visit(`https://${HOST}/`)).toMatchObject({ status: 200, body: '<secret>' });
  });
});

test('what is wrong with a secret is told without it: to who sends it, and in the log', async () => {
  const of = (credentials: string) =>
    `on_http_request: [{actions: [{type: basic-auth, config: {credentials: ${credentials}}}]}]`;
  const wrong = [
    of(`["${CANARY}"]`),
    of(`"${CANARY}"`),
    of(`{ office: ${CANARY} }`),
    of(`["office:\${${CANARY}}"]`),
    of(`["office:\${'${CANARY}' + 1}"]`),
    of(`["office:\${${CANARY}"]`),
    of(`[*${CANARY}]`),
    of(`[!${CANARY} 'a:b']`),
    of(`["office:\\${CANARY}"]`),
    of(`[%${CANARY}]`),
    of(`["a" ${CANARY}]`),
    of(`[office:${CANARY}`),
    `%${CANARY}\n---\n${of('[a]')}`,
    of(`[>${CANARY}]`),
    of('[7421853096742185]'),
    JSON.stringify(onRequest([signed(CANARY, 'discord')])),
    JSON.stringify(onRequest([action('verify-webhook', { provider: 'github', secret: 7421853096742185 })])),
    JSON.stringify({
      on_tcp_connect: [{ actions: [action('terminate-tls', { server_certificate: 'x', server_private_key: CANARY })] }],
    }),
    of(`[office:${CANARY}]`).replace('{type', `{name: x, type`),
  ];
  const query = `query ($policy: String!) {
    evaluatePolicy(policy: $policy, request: { url: "https://a.example.com/" }) { problems { path message } }
  }`;
  for (const policy of wrong) {
    const { status, text } = await put(policy);
    const evaluated = await lab.account.graphql(query, { policy });
    const refused = await lab.tunnel('https', TUNNEL, policy).catch((error) => error);
    expect([status, evaluated.body.data?.evaluatePolicy.problems.length > 0, refused.code], text).toEqual([
      ...[400, true, expect.stringMatching(/^ERR_GATEWAY_2/)],
    ]);
    for (const told of [text, evaluated.text, String(refused.message)]) {
      expect(told).not.toContain('canary-5');
      expect(told).not.toContain('7421853');
    }
  }
  expect(lab.gateway.logs.filter((line) => /canary-5|7421853/.test(line))).toEqual([]);
});

test('the key of a TLS edge stays as it is, too, and nobody reads it', async () => {
  const { call } = lab.account;
  const { cert, key } = await (await newIssuer('CN=Us')).issue({ dns: ['tls.example.com'], purpose: 'server' });
  const settings = { server_certificate: cert, server_private_key: key };
  const policy = { on_tcp_connect: [{ actions: [action('terminate-tls', settings)] }] };
  const { body: edge } = await call('POST', '/edges/tls', { traffic_policy: { value: JSON.stringify(policy) } });
  const shown = JSON.stringify(policy).replace(JSON.stringify(key), '"<secret>"');
  expect(edge.traffic_policy.value).toBe(shown);
  const [, line = ''] = key.split('\n');
  expect((await everyRow(lab.gateway)).filter((row) => row.includes(line))).toEqual([]);

  const again = (more: object) =>
    call('PUT', `${edge.uri}/traffic_policy`, {
      value: JSON.stringify({
        on_tcp_connect: [
          { actions: [action('terminate-tls', { ...settings, server_private_key: '<secret>', ...more })] },
        ],
      }),
    });
  expect((await again({ min_version: '1.3' })).status).toBe(200);
  const other = await (await newIssuer('CN=Us')).issue({ dns: ['tls.example.com'], purpose: 'server' });
  const { status, body } = await again({ server_certificate: other.cert });
  expect([status, body.msg]).toEqual([400, expect.stringContaining('must be the key of server_certificate')]);
});
