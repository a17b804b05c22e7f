// Trial runs: what a policy would do, told rule by rule.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { describe, expect, test } from 'vitest';
import { dryRun } from '../../src/policy/dry-run/dry-run.ts';
import { FOREIGN_NAMESPACE } from '../../src/tunnel/control/compatibility.ts';
import { action, onConnect, onRequest, onResponse } from './documents/support.ts';

const owner = { accountId: 'ac_2test', proto: 'https' } as const;
const request = { url: 'https://shop.example.com/cart?id=7' };
const run = (policy: object, ...rest: [] | [object] | [object, object]) =>
  dryRun(JSON.stringify(policy), owner, { ...request, ...rest[0] }, rest[1]);

const policy = {
  on_http_request: [
    { name: 'no robots', expressions: ["hasReqHeader('x-robot')", 'true'], actions: [action('deny')] },
    {
      expressions: ["req.url.path == '/cart'", 'size(req.url.query) > 0'],
      actions: [
        action('set-vars', { vars: [{ id: '${int(getQueryParam("id")[0])}' }] }),
        action('add-headers', { headers: { 'x-cart': 'no ${vars.id}' } }),
        action('url-rewrite', { from: 'cart', to: 'basket' }),
        action('log', { metadata: { id: '${vars.id}' } }),
      ],
    },
  ],
  on_http_response: [
    { expressions: ['res.status_code == 404'], actions: [action('custom-response', { body: 'nothing' })] },
    { actions: [action('remove-headers', { headers: ['server'] })] },
  ],
};

test('tells of each rule whether it matched, and of each action what it does', async () => {
  const { problems, rules, notes, outcome } = await run(policy);
  expect(problems).toEqual([]);
  expect(rules.map(({ phase, index, name, state }) => [phase, index, name, state])).toEqual([
    ['on_http_request', 0, 'no robots', 'unmatched'],
    ['on_http_request', 1, undefined, 'matched'],
    ['on_http_response', 0, undefined, 'unreached'],
    ['on_http_response', 1, undefined, 'unreached'],
  ]);
  expect(rules[0]?.expressions).toEqual([
    { text: "hasReqHeader('x-robot')", value: false, error: undefined },
    { text: 'true', value: undefined, error: undefined },
  ]);
  expect(rules[1]?.actions).toEqual([
    { type: 'set-vars', effects: ['sets vars.id to 7'], result: undefined, error: undefined },
    {
      type: 'add-headers',
      effects: ['adds x-cart: no 7 to the request'],
      result: { headers_added: { 'x-cart': 'no 7' } },
      error: undefined,
    },
    {
      type: 'url-rewrite',
      effects: ['changes the URL to https://shop.example.com/basket?id=7'],
      result: { matches: ['cart'], url: 'https://shop.example.com/basket?id=7' },
      error: undefined,
    },
    { type: 'log', effects: ['changes nothing'], result: { metadata: { id: 7 } }, error: undefined },
  ]);
  expect(notes).toEqual([{ id: 7 }]);
  expect(outcome).toEqual({
    kind: 'forwarded',
    reason: undefined,
    request: {
      method: 'GET',
      url: 'https://shop.example.com/basket?id=7',
      headers: [
        { name: 'host', value: 'shop.example.com' },
        { name: 'x-cart', value: 'no 7' },
      ],
      internal: undefined,
    },
    response: undefined,
  });
});

test('runs the rules for answers on the answer that is described', async () => {
  const headers = [{ name: 'Server', value: 'x' }];
  const { rules, outcome } = await run(policy, {}, { status: 200, headers, body: 'a' });
  expect(rules.slice(2).map(({ state }) => state)).toEqual(['unmatched', 'matched']);
  expect(rules[3]?.actions[0]?.effects).toEqual(['takes Server: x out of the answer']);
  expect(outcome).toMatchObject({ kind: 'forwarded', response: { status: 200, headers: [], body: undefined } });
});

test('shows an answer of the policy with its body, and the request that went before it', async () => {
  const { rules, outcome } = await run(policy, {}, { status: 404 });
  expect(rules[2]?.actions[0]?.effects).toEqual(['answers with 200']);
  expect(rules[3]?.state).toBe('unreached');
  expect(outcome).toMatchObject({ kind: 'forwarded', response: { status: 200, body: 'nothing' } });
  expect(outcome?.request?.url).toBe('https://shop.example.com/basket?id=7');
});

describe('tells what becomes of the visitor:', () => {
  test('turned away by a rule', async () => {
    const { rules, outcome } = await run(policy, { headers: [{ name: 'X-Robot', value: '1' }] });
    expect(rules[0]?.actions[0]?.effects).toEqual(['answers with 403']);
    expect(rules[1]?.state).toBe('unreached');
    expect(outcome).toMatchObject({ kind: 'answered', response: { status: 403 }, request: undefined });
    expect(outcome?.reason).toMatch(/rule "no robots" .*denied/);
  });

  test('turned away by the gateway', async () => {
    const { outcome } = await run(onRequest([action('restrict-ips', { allow: ['10.0.0.0/8'] })]));
    expect(outcome).toMatchObject({ kind: 'refused', response: { status: 403, error: 'ERR_GATEWAY_3205' } });
    const inside = await run(onRequest([action('restrict-ips', { allow: ['10.0.0.0/8'] })]), { clientIp: '10.1.2.3' });
    expect(inside.outcome?.kind).toBe('forwarded');
  });

  test('refused since an expression has no value', async () => {
    const { rules, outcome } = await run(onRequest([action('deny')], "req.headers['x'][0] == 'a'"));
    expect(rules[0]).toMatchObject({ state: 'failed', actions: [] });
    expect(rules[0]?.expressions[0]?.error).toBeTypeOf('string');
    expect(outcome).toMatchObject({ kind: 'refused', response: { status: 500, error: 'ERR_GATEWAY_2238' } });
  });

  test('refused since an action failed', async () => {
    const { rules } = await run(onRequest([action('custom-response', { body: "${req.headers['x'][0]}" })]));
    expect(rules[0]).toMatchObject({ state: 'failed', actions: [{ error: expect.any(String) }] });
  });

  test('hung up on', async () => {
    const { outcome } = await run(onConnect([action('deny')], "conn.client_ip == '192.0.2.1'"));
    expect(outcome).toMatchObject({ kind: 'closed', request: undefined, response: undefined });
  });

  test('sent on to an internal endpoint, which need not be there', async () => {
    const { rules, outcome } = await run(onRequest([action('forward-internal', { url: 'https://a.internal' })]));
    expect(rules[0]?.actions[0]?.effects).toEqual(['sends the visitor on to https://a.internal']);
    expect(outcome).toMatchObject({ kind: 'forwarded', request: { internal: 'https://a.internal' } });
  });

  test('let through on an endpoint without requests', async () => {
    const { outcome } = await dryRun(
      JSON.stringify(onConnect([action('log', { metadata: {} })])),
      { ...owner, proto: 'tcp' },
      { url: 'tcp://a.example.com:20000' },
    );
    expect(outcome).toMatchObject({ kind: 'forwarded', request: undefined });
  });
});

test('tells what is wrong with a policy instead of running it', async () => {
  const { problems, rules, outcome } = await run(onRequest([action('denny')]));
  expect(problems).toEqual([{ path: 'on_http_request[0].actions[0].type', number: 2201, message: expect.any(String) }]);
  expect([rules, outcome]).toEqual([[], undefined]);
});

test('counts anew every time', async () => {
  const limit = { name: 'a', algorithm: 'sliding_window', capacity: 1, rate: '60s', bucket_key: ['req.host'] };
  for (let i = 0; i < 3; i++)
    expect((await run(onRequest([action('rate-limit', limit)]))).outcome?.kind).toBe('forwarded');
});

test('shows how an answer is compressed', async () => {
  const headers = [{ name: 'accept-encoding', value: 'gzip' }];
  const { rules } = await run(onResponse([action('compress-response')]), { headers }, { body: 'a'.repeat(1000) });
  expect(rules[0]?.actions[0]?.effects).toContain('encodes the body as gzip');
});

test.each<[string, 'add-headers' | 'set-headers', string, boolean]>([
  ['who has signed in', 'add-headers', '${actions.oidc.identity.email}', true],
  ['the same by its older name', 'add-headers', `\${actions.${FOREIGN_NAMESPACE}.oidc.identity.email}`, true],
  ['the same by an index', 'add-headers', "id ${actions['oauth'].identity.id}", true],
  ['what a token says', 'add-headers', '${actions.jwt_validation.tokens[0].payload.sub}', true],
  ['whose password it is', 'add-headers', '${actions.basic_auth.credentials.username}', true],
  ['what another server says', 'add-headers', '${actions.http_request.res.body}', true],
  ['whose certificate it is', 'add-headers', '${conn.tls.client.subject.common_name}', true],
  ['who has signed in', 'set-headers', '${actions.oidc.identity.email}', false],
  ['the address', 'add-headers', '${conn.client_ip}', false],
  ['a text', 'add-headers', 'actions.oidc', false],
])('warns where a visitor can forge %s by %s', async (_, type, value, warns) => {
  const { problems, warnings } = await run(onRequest([action(type, { headers: { 'x-visitor': value } })]));
  const warning = {
    path: 'on_http_request[0].actions[0].config.headers.x-visitor',
    message: expect.stringMatching(/set-headers/),
  };
  expect([problems, warnings]).toEqual([[], warns ? [warning] : []]);
  expect((await run(onResponse([action(type, { headers: { 'x-visitor': value } })]))).warnings).toEqual([]);
});
