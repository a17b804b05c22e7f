// What cannot be computed at traffic time: the visitor is refused with a number to ask about, and the log has the reason.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { action, onRequest, onResponse } from '../../policy/documents/support.ts';
import { type PolicyLab, startPolicyLab } from './lab.ts';

let lab: PolicyLab;
beforeAll(async () => {
  lab = await startPolicyLab();
});
afterAll(() => lab?.close());

const HOST = 'failures.tunnel.localhost';
const URL = `https://${HOST}/secret/path?token=hidden`;

async function visited(policy: object) {
  const tunnel = await lab.tunnel('https', HOST, policy);
  try {
    lab.upstream.asked = [];
    const seen = await lab.visit(URL);
    const operationId = seen?.headers['service-operation-id'];
    expect(operationId).toMatch(/^op_/);
    return { seen, line: await lab.gateway.logged((line) => line.operationId === operationId) };
  } finally {
    await tunnel.close();
  }
}

const missing = "req.headers['x-missing'][0] == 'a'";

const failures = [
  {
    name: 'an expression of a rule that has a name',
    policy: {
      on_http_request: [
        { actions: [action('add-headers', { headers: { 'x-a': '1' } })] },
        { name: 'no robots', expressions: ['true', missing], actions: [action('deny')] },
      ],
    },
    reason: /^rule "no robots" \(on_http_request\[1\]\), expression 2: .*x-missing/,
    asked: 0,
  },
  {
    name: 'an expression of a rule by an older name of its phase',
    policy: { inbound: [{ expressions: [missing], actions: [action('deny')] }] },
    reason: /^rule inbound\[0\], expression 1: /,
    asked: 0,
  },
  {
    name: 'a template of an action',
    policy: onRequest([action('add-headers', { headers: { 'x-a': "${req.headers['x-missing'][0]}" } })]),
    reason: /^rule on_http_request\[0\], action add-headers: .*x-missing/,
    asked: 0,
  },
  {
    name: 'a template of an action that waits',
    policy: onRequest([action('verify-webhook', { provider: 'github', secret: "${req.headers['x-missing'][0]}" })]),
    reason: /^rule on_http_request\[0\], action verify-webhook: .*x-missing/,
    asked: 0,
  },
  {
    name: 'a network that is computed, and is none',
    policy: onRequest([action('restrict-ips', { allow: ['${req.host}'] })]),
    reason: /^rule on_http_request\[0\], action restrict-ips: a computed network is not valid/,
    asked: 0,
  },
  {
    name: 'a division by nothing',
    policy: onRequest([action('set-vars', { vars: [{ a: '${1 / (req.method.size() - 3)}' }] })]),
    reason: /^rule on_http_request\[0\], action set-vars: .*zero/,
    asked: 0,
  },
  {
    name: 'an expression about the answer, which upstream has given already',
    policy: onResponse([action('add-headers', { headers: { a: 'b' } })], missing),
    reason: /^rule on_http_response\[0\], expression 1: /,
    asked: 1,
  },
];

describe('refused with 500, and the log has the rule and the reason under the same operation:', () => {
  test.each(failures.map((failure) => [failure.name, failure] as const))('%s', async (_, failure) => {
    const { seen, line } = await visited(failure.policy);
    expect(seen).toMatchObject({ status: 500, headers: { 'gateway-error-code': 'ERR_GATEWAY_2238' } });
    expect(seen?.body).toMatch(/^ERR_GATEWAY_2238: /);
    expect(`${seen?.body}${JSON.stringify(seen?.headers)}`).not.toMatch(/x-missing|on_http|from upstream/);
    expect(lab.upstream.asked.length).toBe(failure.asked);
    expect(line).toMatchObject({
      module: 'traffic_policy',
      reason: expect.stringMatching(failure.reason),
      status: 500,
      accountId: lab.account.accountId,
      endpointId: expect.stringMatching(/^ep_/),
      ip: '127.0.0.1',
      method: 'GET',
      host: HOST,
      path: '/secret/path', // What is behind it may be a secret.
    });
  });
});

const refusals = [
  ['deny', onRequest([action('deny')]), 403, 'rule on_http_request[0], action deny: denied'],
  [
    'restrict-ips',
    { on_http_request: [{ name: 'home only', actions: [action('restrict-ips', { allow: ['10.0.0.0/8'] })] }] },
    403,
    'rule "home only" (on_http_request[0]), action restrict-ips: 127.0.0.1 is in none of the networks',
  ],
  [
    'basic-auth',
    onRequest([action('basic-auth', { credentials: ['ann:a long password'] })]),
    401,
    expect.stringMatching(/^rule on_http_request\[0\], action basic-auth: /),
  ],
  [
    'forward-internal',
    onRequest([action('forward-internal', { url: 'https://nowhere.internal' })]),
    502,
    'rule on_http_request[0], action forward-internal: there is no internal endpoint https://nowhere.internal online',
  ],
] as const;

test.each(refusals)('who is turned away finds the reason in the log by the operation: %s', async (_, policy, ...is) => {
  const { seen, line } = await visited(policy);
  expect([seen?.status, line.reason]).toEqual(is);
  expect(line).toMatchObject({ module: 'traffic_policy', status: is[0] });
});
