// Modules of one route together: in which order they act, what the log has of visitors who are turned away, and that IP
// policies that are used act as they are now.

import { beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { done, errorOf, labelled, newEdge, newName, shown, startShowing } from '../edges/support.ts';
import { credentialsOf, ipPolicy, passwordOf, signed } from './cases.ts';
import { Prober } from './prober.ts';

let gateway: TestGateway;
let account: Account;
let authtoken: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  ({ authtoken } = await newCredential(account));
});

async function served(modules: object) {
  const labels = { app: newName() };
  const upstream = await startShowing();
  await labelled(await sdkSession(gateway, authtoken), labels, upstream.url);
  const edge = await newEdge(account, { labels, modules });
  return { edge, upstream, visitor: new Prober(gateway, edge) };
}

const policy = (rules: object) => ({ traffic_policy: { value: JSON.stringify(rules) } });
const addHeader = (name: string, value: string) => ({ type: 'add-headers', config: { headers: { [name]: value } } });

test('address, user agent, password, signature and policy are asked in this order, and then upstream', async () => {
  const { edge, upstream, visitor } = await served({
    ip_restriction: { ip_policy_ids: [await ipPolicy(account, { '127.0.0.1/32': 'allow' })] },
    user_agent_filter: { deny: ['^curl'] },
    basic_auth: credentialsOf('one'),
    webhook_verification: { provider: 'github', secret: 'secret one' },
    circuit_breaker: { volume_threshold: 1000 },
    ...policy({
      on_http_request: [
        { expressions: ["'x-bad' in req.headers"], actions: [{ type: 'deny', config: { status_code: 418 } }] },
      ],
    }),
  });
  const { headers: signature, ...webhook } = signed('secret one');
  const [agent, password, good] = [{ 'user-agent': 'curl' }, passwordOf('one'), { 'user-agent': 'good' }];
  const bad = { 'x-bad': 'yes' };
  const visits = [
    // What a visitor says of its address is not asked.
    { from: '127.0.0.2', headers: { ...bad, ...agent, 'x-forwarded-for': '127.0.0.1' } },
    { headers: { ...bad, ...agent } },
    { headers: { ...bad, ...good } },
    { headers: { ...bad, ...good, ...password } },
    { headers: { ...bad, ...good, ...password, ...signature } },
  ];
  const fates = [];
  for (const options of visits) fates.push(await visitor.fate({ ...webhook, ...options }));
  expect(fates).toEqual([3205, 3211, 3212, 3204, 418]);
  const state = async () => {
    const query = `{ httpsEdgeRoute(edgeId: "${edge.id}", id: "${edge.hostId}") { circuitBreakerState { requests } } }`;
    return (await account.graphql(query)).body.data.httpsEdgeRoute.circuitBreakerState.requests;
  };
  expect([upstream.requests, await state()]).toEqual([0, 0]);
  expect(await visitor.fate({ ...webhook, headers: { ...good, ...password, ...signature } })).toBe(200);
  expect([upstream.requests, await state()]).toEqual([1, 1]);
});

test('a policy sees requests before request_headers and answers after response_headers, and compression comes last', async () => {
  const { visitor } = await served({
    request_headers: { add: { 'x-module': 'request' } },
    response_headers: { add: { 'x-module': 'response', 'x-gone': 'yes' } },
    compression: {},
    ...policy({
      on_http_request: [
        { expressions: ["'x-module' in req.headers"], actions: [{ type: 'deny' }] },
        { actions: [addHeader('x-module', 'policy')] },
      ],
      on_http_response: [
        {
          expressions: ["'x-module' in res.headers", "!('content-encoding' in res.headers)"],
          actions: [addHeader('x-policy', 'saw it'), { type: 'remove-headers', config: { headers: ['x-gone'] } }],
        },
      ],
    }),
  });
  const { headers } = await visitor.visit('/', { headers: { 'accept-encoding': 'gzip' } });
  expect(headers).toMatchObject({ 'x-module': 'response', 'x-policy': 'saw it', 'content-encoding': 'gzip' });
  expect(headers['x-gone']).toBeUndefined();
  expect(shown(await visitor.visit('/')).headers['x-module']).toBe('policy, request');
});

test('a policy’s own answer is compressed, and has nothing of response_headers', async () => {
  const body = 'an answer that is long enough. '.repeat(100);
  const { upstream, visitor } = await served({
    response_headers: { add: { 'x-module': 'response' } },
    compression: {},
    ...policy({ on_http_request: [{ actions: [{ type: 'custom-response', config: { status_code: 200, body } }] }] }),
  });
  const { headers } = await visitor.visit('/', { headers: { 'accept-encoding': 'br' } });
  expect(headers).toMatchObject({ 'content-encoding': 'br' });
  expect(headers['x-module']).toBeUndefined();
  expect((await visitor.visit('/')).body).toBe(body);
  expect(upstream.requests).toBe(0);
});

test('rules of an IP policy that are added, changed or removed act at once', async () => {
  const id = await ipPolicy(account, { '127.0.0.0/31': 'allow' });
  const { visitor, edge } = await served({ ip_restriction: { ip_policy_ids: [id] } });
  const met = () => visitor.fates([{ from: '127.0.0.1' }, { from: '127.0.0.2' }]);
  expect(await met()).toEqual([200, 3205]);
  const rule = { ip_policy_id: id, cidr: '127.0.0.2/32', action: 'allow' };
  const added = await done(account, 'POST', '/ip_policy_rules', rule);
  expect(await met()).toEqual([200, 200]);
  await done(account, 'PATCH', `/ip_policy_rules/${added.id}`, { cidr: '127.0.0.0/30' });
  const denied = await done(account, 'POST', '/ip_policy_rules', { ...rule, cidr: '127.0.0.1/32', action: 'deny' });
  expect(await met()).toEqual([3205, 200]);
  await done(account, 'DELETE', `/ip_policy_rules/${denied.id}`);
  expect(await met()).toEqual([200, 200]);
  for (const { id: each } of (await done(account, 'GET', '/ip_policy_rules')).ip_policy_rules) {
    const one = await done(account, 'GET', `/ip_policy_rules/${each}`);
    if (one.ip_policy.id === id) await done(account, 'DELETE', `/ip_policy_rules/${each}`);
  }
  expect(await met()).toEqual([3205, 3205]);
  const other = await ipPolicy(account, { '127.0.0.2/32': 'allow' });
  await done(account, 'PUT', `${edge.host}/ip_restriction`, { ip_policy_ids: [id, other] });
  expect(await met()).toEqual([3205, 200]);
});

test.each([
  [
    'ip_restriction',
    403,
    () => ipPolicy(account, { '127.0.0.2/32': 'allow' }).then((id) => ({ ip_policy_ids: [id] })),
    '127.0.0.1 is in no network',
  ],
  ['basic_auth', 401, async () => credentialsOf('one'), 'no well-formed user name'],
  ['user_agent_filter', 403, async () => ({ allow: ['good'] }), 'no pattern'],
  [
    'traffic_policy',
    403,
    async () => ({ value: JSON.stringify({ on_http_request: [{ name: 'nobody', actions: [{ type: 'deny' }] }] }) }),
    'deny',
  ],
] as const)(
  'who is turned away by %s is shown an id that finds the reason in the log',
  async (module, status, settings, reason) => {
    const { visitor, edge } = await served({ [module]: await settings() });
    const answer = await visitor.visit('/secret?token=1');
    expect(answer.status).toBe(status);
    const operationId = answer.headers['service-operation-id'];
    expect(operationId).toMatch(/^op_\w{27}$/);
    const line = await gateway.logged((one) => one.operationId === operationId);
    expect(line).toMatchObject({
      module,
      status,
      reason: expect.stringContaining(reason),
      accountId: account.accountId,
      ip: '127.0.0.1',
      method: 'GET',
      host: edge.name,
      path: '/secret',
    });
    const again = await visitor.visit('/secret');
    expect(again.headers['service-operation-id']).not.toBe(operationId);
    expect(errorOf(again)).toBe(errorOf(answer));
  },
);
