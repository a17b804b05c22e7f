// A trial run of a traffic policy through GraphQL: rule by rule what matches, and what would be done.

import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

const query = `query ($policy: String!, $request: PolicyRequestInput!, $response: PolicyResponseInput, $proto: EndpointProto) {
  evaluatePolicy(policy: $policy, request: $request, response: $response, proto: $proto) {
    problems { path message errorCode }
    rules { phase index name state expressions { text value error } actions { type effects result error } }
    notes
    outcome {
      kind reason
      request { method url headers { name value } internal }
      response { status headers { name value } body error }
    }
  }
}`;

async function evaluate(policy: object | string, request: object, more: object = {}, asking = account) {
  const text = typeof policy === 'string' ? policy : JSON.stringify(policy);
  const { body } = await asking.graphql(query, { policy: text, request, ...more });
  expect(body.errors).toBeUndefined();
  return body.data.evaluatePolicy;
}
const url = 'https://shop.example.com/cart?id=7';
const withHeader = [
  { expressions: ["req.method == 'POST'"], actions: [{ type: 'deny' }] },
  {
    name: 'mark',
    expressions: ["req.url.path.startsWith('/cart')"],
    actions: [
      { type: 'add-headers', config: { headers: { 'x-id': `\${getQueryParam('id')[0]}` } } },
      { type: 'log', config: { metadata: { of: 'cart' } } },
    ],
  },
];

test('a request that is let through is shown as the upstream gets it', async () => {
  const { problems, rules, notes, outcome } = await evaluate({ on_http_request: withHeader }, { url });
  expect(problems).toEqual([]);
  expect(rules).toMatchObject([
    { phase: 'ON_HTTP_REQUEST', index: 0, name: null, state: 'UNMATCHED', actions: [] },
    { index: 1, name: 'mark', state: 'MATCHED', expressions: [{ value: true, error: null }] },
  ]);
  expect(rules[1].actions).toMatchObject([{ type: 'add-headers', error: null }, { type: 'log' }]);
  expect(notes).toEqual([{ of: 'cart' }]);
  expect(outcome).toMatchObject({ kind: 'FORWARDED', reason: null, response: null });
  expect(outcome.request).toMatchObject({ method: 'GET', url, internal: null });
  expect(outcome.request.headers).toContainEqual({ name: 'x-id', value: '7' });
});

test('a request that is turned away is shown with its answer', async () => {
  const { rules, outcome } = await evaluate({ inbound: withHeader }, { url, method: 'POST' });
  expect(rules).toMatchObject([{ state: 'MATCHED' }, { state: 'UNREACHED' }]);
  expect(outcome).toMatchObject({ request: null, response: { status: 403 } });
});

test('rules for answers see the answer that is described', async () => {
  const policy = {
    on_http_response: [
      { expressions: ['res.status_code == 503'], actions: [{ type: 'custom-response', config: { body: 'later' } }] },
    ],
  };
  const described = { response: { status: 503, headers: [{ name: 'x-why', value: 'overload' }] } };
  expect((await evaluate(policy, { url }, described)).outcome.response).toMatchObject({ status: 200, body: 'later' });
  expect((await evaluate(policy, { url }, { response: { status: 200 } })).outcome.response).toMatchObject({
    status: 200,
    body: null,
  });
});

test('the visitor’s address is the one that is described', async () => {
  const policy = 'on_tcp_connect:\n  - actions:\n      - type: restrict-ips\n        config: { allow: [10.0.0.0/8] }\n';
  const at = async (clientIp: string) => (await evaluate(policy, { url, clientIp }, { proto: 'TLS' })).outcome.kind;
  expect([await at('10.1.2.3'), await at('192.0.2.7')]).toEqual(['FORWARDED', 'CLOSED']);
});

test('a policy that cannot be used is answered with all that is wrong with it', async () => {
  const policy = { on_http_request: [{ expressions: ['nobody.knows'], actions: [{ type: 'denny' }] }] };
  const { problems, rules, outcome } = await evaluate(policy, { url });
  expect(problems).toEqual([
    { path: 'on_http_request[0].expressions[0]', message: expect.any(String), errorCode: 'ERR_GATEWAY_2200' },
    { path: 'on_http_request[0].actions[0].type', message: expect.any(String), errorCode: 'ERR_GATEWAY_2201' },
  ]);
  expect({ rules, outcome }).toEqual({ rules: [], outcome: null });
  expect((await evaluate('{', { url })).problems).toMatchObject([{ path: '', errorCode: 'ERR_GATEWAY_2236' }]);
});

test('members may ask, too', async () => {
  const member = await account.addOwner();
  expect((await evaluate({}, { url }, {}, { ...account, ...member })).outcome.kind).toBe('FORWARDED');
});

describe('what nobody could send is refused', () => {
  test.each([
    ['request.url', { url: 'shop.example.com' }],
    ['request.url', { url: 'ftp://shop.example.com/' }],
    ['request.url', { url: 'https://' }],
    ['request.method', { url, method: 'GE T' }],
    ['request.clientIp', { url, clientIp: '300.1.1.1' }],
    ['request.clientPort', { url, clientPort: 65_536 }],
    ['request.headers[0].name', { url, headers: [{ name: 'a b', value: '' }] }],
    ['request.headers[0].value', { url, headers: [{ name: 'a', value: 'b\r\nc: d' }] }],
  ])('%s: %j', async (field, request) => {
    const { body } = await account.graphql(query, { policy: '{}', request });
    expect(body.errors).toMatchObject([{ extensions: { status: 400, errorCode: 'ERR_GATEWAY_215', field } }]);
  });

  test('an answer without a status that answers have', async () => {
    const { body } = await account.graphql(query, { policy: '{}', request: { url }, response: { status: 101 } });
    expect(body.errors).toMatchObject([{ extensions: { errorCode: 'ERR_GATEWAY_215', field: 'response.status' } }]);
  });
});

describe('a policy as it is shown, with masks in place of its secrets,', () => {
  const shown = 'on_http_request: [{ actions: [{ type: basic-auth, config: { credentials: ["office:<secret>"] } }] }]';
  const headers = [{ name: 'authorization', value: `Basic ${Buffer.from('office:correct horse').toString('base64')}` }];
  const tried = `query ($policy: String!, $request: PolicyRequestInput!, $storedIn: ID) {
    evaluatePolicy(policy: $policy, request: $request, storedIn: $storedIn) {
      problems { path errorCode }
      rules { actions { effects result } }
      outcome { kind }
    }
  }`;
  const refused = { errors: [{ extensions: { code: 'NOT_FOUND' } }] };
  let storedIn: string;
  beforeAll(async () => {
    const { body: edge } = await account.call('POST', '/edges/https', {});
    const traffic_policy = { value: shown.replace('<secret>', 'correct horse') };
    const route = { match_type: 'path_prefix', match: '/', traffic_policy };
    storedIn = (await account.call('POST', `/edges/https/${edge.id}/routes`, route)).body.id;
  });
  const attempt = (storedIn: string | null, by = account, policy = shown) =>
    by.graphql(tried, { policy, request: { url, headers }, storedIn });

  test('is tried with those of the route that it belongs to, which nobody sees', async () => {
    const { body, text } = await attempt(storedIn);
    expect(body.data.evaluatePolicy, text).toMatchObject({ problems: [], outcome: { kind: 'FORWARDED' } });
    expect(text).not.toContain('correct horse');
    const { body: key } = await account.call('POST', '/api_keys', { scopes: ['read'] });
    const reading = {
      ...account,
      graphql: (...[text, given]: Parameters<Account['graphql']>) => account.graphql(text, given, { key: key.token }),
    };
    expect((await attempt(storedIn, reading)).body.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    const elsewhere = shown.replace('[{ actions', '[{ expressions: ["false"], actions: [{ type: deny }] }, { actions');
    expect((await attempt(storedIn, account, elsewhere)).body.data.evaluatePolicy.problems).toEqual([
      { path: 'on_http_request[1].actions[0].config.credentials[0]', errorCode: 'ERR_GATEWAY_90390' },
    ]);
  });

  test('is tried with those of the cloud endpoint that it belongs to', async () => {
    await account.call('POST', '/reserved_domains', { domain: 'tried.example.com' });
    const cloud = { url: 'https://tried.example.com', traffic_policy: shown.replace('<secret>', 'correct horse') };
    const { body: endpoint } = await account.call('POST', '/cloud_endpoints', cloud);
    const { body, text } = await attempt(endpoint.id);
    expect(body.data.evaluatePolicy, text).toMatchObject({ problems: [], outcome: { kind: 'FORWARDED' } });
    expect((await attempt(endpoint.id, await gateway.newAccount())).body).toMatchObject(refused);
  });

  test('cannot be tried without it', async () => {
    expect((await attempt(null)).body.data.evaluatePolicy).toMatchObject({
      problems: [{ path: 'on_http_request[0].actions[0].config.credentials[0]', errorCode: 'ERR_GATEWAY_90390' }],
      outcome: null,
    });
  });

  test.each(['tls', 'tcp'])('is tried for a %s edge that has none yet', async (kind) => {
    const { body: edge } = await account.call('POST', `/edges/${kind}`, {});
    expect((await attempt(edge.id, account, '{}')).body.data.evaluatePolicy).toMatchObject({ problems: [] });
  });

  test('cannot be tried with those of another account, or of what has none', async () => {
    const other = await gateway.newAccount();
    expect((await attempt(storedIn, other)).body).toMatchObject(refused);
    for (const id of [other.ownerId, 'x', storedIn.slice(0, -1)])
      expect((await attempt(id)).body, id).toMatchObject(refused);
  });

  test('that is no policy is told so', async () => {
    expect((await attempt(storedIn, account, '{')).body.data.evaluatePolicy.problems).toMatchObject([{ path: '' }]);
  });
});

describe('a run that acts', () => {
  const asking = { on_http_request: [{ actions: [{ type: 'http-request', config: { url: 'http://127.0.0.1:9/' } }] }] };
  const keyed = {
    on_http_request: [
      {
        actions: [
          {
            type: 'jwt-validation',
            config: {
              issuer: { allow_list: [{ value: 'https://127.0.0.1:9' }] },
              jws: { allowed_algorithms: ['ES256'] },
              http: { tokens: [{ type: 'jwt', method: 'header', name: 'authorization', prefix: 'Bearer ' }] },
            },
          },
        ],
      },
    ],
  };
  const plain = { on_http_request: [{ actions: [{ type: 'deny' }] }] };
  const withScopes = async (owner: Account, scopes: string[]) => {
    const { body } = await owner.call('POST', '/api_keys', { scopes });
    return (policy: object) =>
      owner.graphql(query, { policy: JSON.stringify(policy), request: { url } }, { key: body.token });
  };
  const trials = async (owner: Account) => {
    const { body } = await owner.graphql('{ auditEntries(first: 100) { nodes { action actorId after } } }');
    return body.data.auditEntries.nodes.filter(({ action }: { action: string }) => action === 'POLICY_TRIED');
  };

  test('needs a scope of its own, which reading does not have', async () => {
    const owner = await gateway.newAccount();
    const reading = await withScopes(owner, ['read']);
    expect((await reading(plain)).body.data.evaluatePolicy.outcome.kind).toBe('ANSWERED');
    for (const policy of [asking, keyed]) {
      const { body } = await reading(policy);
      expect(body.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', errorCode: 'ERR_GATEWAY_90330' } }]);
    }
    expect(await trials(owner)).toEqual([]);
    const trying = await withScopes(owner, ['policy:try']);
    for (const policy of [plain, asking, keyed]) expect((await trying(policy)).body.errors).toBeUndefined();
    expect((await trying({ inbound: [] })).body.errors).toBeUndefined();
    const after = { method: 'GET', url: 'https://shop.example.com/cart?id=…', stored_in: null };
    expect(await trials(owner)).toEqual(Array(2).fill({ action: 'POLICY_TRIED', actorId: owner.ownerId, after }));
  });

  test('is one of sixty a minute of its account: no password that is stored is guessed', async () => {
    const owner = await gateway.newAccount();
    const run = () => owner.graphql(query, { policy: JSON.stringify(asking), request: { url } });
    for (let count = 0; count < 60; count++) expect((await run()).body.errors).toBeUndefined();
    expect((await run()).body.errors).toMatchObject([
      { extensions: { code: 'RATE_LIMITED', errorCode: 'ERR_GATEWAY_90364', status: 429 } },
    ]);
    expect(await trials(owner)).toHaveLength(60);
  });
});
