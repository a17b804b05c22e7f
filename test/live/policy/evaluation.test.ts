// A trial run over GraphQL, as people meet it in GraphiQL: every field of a full answer, and what cannot be tried.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { beforeAll, expect, test } from 'vitest';
import { action } from '../../policy/documents/support.ts';
import { type Account, sharedGateway } from '../../support/gateway/gateway.ts';

let account: Account;
beforeAll(async () => {
  account = await (await sharedGateway()).newAccount();
});

const EVALUATION = `query ($policy: String!, $request: PolicyRequestInput!, $response: PolicyResponseInput, $proto: EndpointProto) {
  evaluatePolicy(policy: $policy, request: $request, response: $response, proto: $proto) {
    problems { path message errorCode }
    rules {
      phase index name state
      expressions { text value error }
      actions { type effects result error }
    }
    notes
    outcome {
      kind reason
      request { method url headers { name value } internal }
      response { status headers { name value } body error }
    }
  }
}`;

const policy = `
on_tcp_connect:
  - name: no strangers
    expressions: ["!inCidrRange(conn.client_ip, '10.0.0.0/8')"]
    actions: [{ type: deny }]
on_http_request:
  - expressions: ["req.method == 'POST'", "req.url.path == '/orders'"]
    actions:
      - type: set-vars
        config: { vars: [{ id: "\${int(getQueryParam('id')[0])}" }] }
      - type: add-headers
        config: { headers: { x-order: "no \${vars.id}" } }
      - type: log
        config: { metadata: { order: "\${vars.id}", of: "\${conn.client_ip}" } }
      - type: url-rewrite
        config: { from: /orders, to: /v2/orders }
on_http_response:
  - name: no errors
    expressions: ["res.status_code >= 500"]
    actions:
      - type: custom-response
        config: { status_code: 503, body: Later., headers: { retry-after: "5" } }
  - expressions: ["true"]
    actions: [{ type: add-headers, config: { headers: { x-seen: "yes" } } }]
`;

const request = {
  method: 'POST',
  url: 'https://shop.example.com/orders?id=7',
  headers: [{ name: 'Content-Type', value: 'application/json' }],
  body: '{}',
  clientIp: '10.1.2.3',
  clientPort: 40_000,
};

test('tells rule by rule what matched, what would be done, and what becomes of the request', async () => {
  const response = { status: 502, headers: [{ name: 'Server', value: 'x' }], body: 'a stack trace' };
  const { body } = await account.graphql(EVALUATION, { policy, request, response });
  const nothing = { result: null, error: null };
  expect(body).toEqual({
    data: {
      evaluatePolicy: {
        problems: [],
        rules: [
          {
            phase: 'ON_TCP_CONNECT',
            index: 0,
            name: 'no strangers',
            state: 'UNMATCHED',
            expressions: [{ text: "!inCidrRange(conn.client_ip, '10.0.0.0/8')", value: false, error: null }],
            actions: [],
          },
          {
            phase: 'ON_HTTP_REQUEST',
            index: 0,
            name: null,
            state: 'MATCHED',
            expressions: [
              { text: "req.method == 'POST'", value: true, error: null },
              { text: "req.url.path == '/orders'", value: true, error: null },
            ],
            actions: [
              { ...nothing, type: 'set-vars', effects: ['sets vars.id to 7'] },
              {
                type: 'add-headers',
                effects: ['adds x-order: no 7 to the request'],
                result: { headers_added: { 'x-order': 'no 7' } },
                error: null,
              },
              {
                type: 'log',
                effects: ['changes nothing'],
                result: { metadata: { order: 7, of: '10.1.2.3' } },
                error: null,
              },
              {
                type: 'url-rewrite',
                effects: ['changes the URL to https://shop.example.com/v2/orders?id=7'],
                result: { matches: ['/orders'], url: 'https://shop.example.com/v2/orders?id=7' },
                error: null,
              },
            ],
          },
          {
            phase: 'ON_HTTP_RESPONSE',
            index: 0,
            name: 'no errors',
            state: 'MATCHED',
            expressions: [{ text: 'res.status_code >= 500', value: true, error: null }],
            actions: [{ ...nothing, type: 'custom-response', effects: ['answers with 503'] }],
          },
          {
            phase: 'ON_HTTP_RESPONSE',
            index: 1,
            name: null,
            state: 'UNREACHED',
            expressions: [{ text: 'true', value: null, error: null }],
            actions: [],
          },
        ],
        notes: [{ order: 7, of: '10.1.2.3' }],
        outcome: {
          kind: 'FORWARDED',
          reason: null,
          request: {
            method: 'POST',
            url: 'https://shop.example.com/v2/orders?id=7',
            headers: [
              { name: 'host', value: 'shop.example.com' },
              { name: 'Content-Type', value: 'application/json' },
              { name: 'x-order', value: 'no 7' },
            ],
            internal: null,
          },
          response: {
            status: 503,
            headers: expect.arrayContaining([{ name: 'retry-after', value: '5' }]),
            body: 'Later.',
            error: null,
          },
        },
      },
    },
  });
});

test('tells of a rule that fails, with the code that the visitor would be shown', async () => {
  const failing = { on_http_request: [{ expressions: ["req.headers['x-a'][0] == ''"], actions: [action('deny')] }] };
  const { body } = await account.graphql(EVALUATION, { policy: JSON.stringify(failing), request });
  const error = expect.stringMatching(/x-a/);
  expect(body.data.evaluatePolicy).toMatchObject({
    rules: [{ state: 'FAILED', expressions: [{ value: null, error }], actions: [] }],
    outcome: {
      kind: 'REFUSED',
      reason: expect.stringMatching(/^rule on_http_request\[0\], expression 1: .*x-a/),
      request: null,
      response: { status: 500, error: 'ERR_GATEWAY_2238', body: expect.stringMatching(/^ERR_GATEWAY_2238: /) },
    },
  });
});

test('tells of a connection that would be closed, for TCP too, which has no requests', async () => {
  const closing = JSON.stringify({ on_tcp_connect: [{ actions: [action('deny')] }] });
  for (const proto of ['HTTP', 'HTTPS', 'TCP', 'TLS']) {
    const { body } = await account.graphql(EVALUATION, { policy: closing, request, proto });
    expect(body.data.evaluatePolicy.outcome).toEqual({
      kind: 'CLOSED',
      reason: 'rule on_tcp_connect[0], action deny: denied',
      request: null,
      response: null,
    });
  }
});
