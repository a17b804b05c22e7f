// Phases, rules and expressions: policies that may be uploaded, and what a visit makes of them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { action, onRequest, onResponse, type ValidDocument } from './support.ts';

const passed = { status: 200, body: 'from upstream' };
const denied = { status: 403, body: '', upstream: null };
const hello = (config: object = {}) => action('custom-response', { body: 'hello', ...config });

/** Phases, rules, and how texts are written. */
const shapes: ValidDocument[] = [
  { name: 'an empty document changes nothing', policy: {}, expected: passed },
  { name: 'empty phases change nothing', policy: 'on_http_request: []\non_http_response: []', expected: passed },
  {
    name: 'a policy that is switched off changes nothing',
    policy: { enabled: false, ...onRequest([action('deny')]) },
    expected: passed,
  },
  {
    name: 'a policy that is switched on is followed',
    policy: { enabled: true, ...onRequest([action('deny')]) },
    expected: denied,
  },
  {
    name: 'rules in YAML with comments',
    policy: `
# Only these may be read.
on_http_request:
  - name: no writing
    expressions:
      - "req.method in ['PUT', 'POST']"   # a list
    actions:
      - type: deny
        config:
          status_code: 405
`,
    request: { method: 'PUT' },
    expected: { status: 405, upstream: null },
  },
  {
    name: 'parts of YAML that are repeated by name',
    policy: `
on_http_request:
  - expressions: ["req.url.path == '/a'"]
    actions: &turnAway [{ type: deny, config: { status_code: 410 } }]
  - expressions: ["req.url.path == '/b'"]
    actions: *turnAway
`,
    request: { target: '/b' },
    expected: { status: 410, upstream: null },
  },
  {
    name: 'the phases by their names of 2024',
    policy: {
      inbound: [{ expressions: ["req.Method == 'PUT'"], actions: [action('deny')] }],
      outbound: [{ expressions: ["res.StatusCode == '200'"], actions: [hello({ status_code: 222 })] }],
    },
    expected: { status: 222, body: 'hello' },
  },
  {
    name: 'the policy that agents add when they are given none',
    policy: {
      inbound: [],
      outbound: [
        {
          expressions: [],
          name: 'Add headers to requests',
          actions: [action('add-headers', { headers: { 'is-gateway': '0000000000' } })],
        },
      ],
    },
    expected: { ...passed, headers: { 'is-gateway': '0000000000' } },
  },
  {
    name: 'all expressions of a rule have to hold',
    policy: onRequest([action('deny')], "req.method == 'GET'", "req.url.path == '/other'"),
    expected: passed,
  },
  {
    name: 'the first rule that answers has the last word',
    policy: {
      on_http_request: [{ expressions: ["req.url.path == '/x'"], actions: [hello()] }, { actions: [action('deny')] }],
    },
    request: { target: '/x' },
    expected: { status: 200, body: 'hello', upstream: null },
  },
  {
    name: 'settings that YAML leaves empty',
    policy: 'on_http_request:\n  - actions:\n      - type: deny\n        config:\n',
    expected: denied,
  },
  {
    name: 'an action sees what those before it have changed',
    policy: onRequest([
      action('add-headers', { headers: { 'x-a': '1' } }),
      action('add-headers', { headers: { 'x-b': "${req.headers['x-a'][0]}2" } }),
    ]),
    expected: { ...passed, upstream: { headers: { 'x-a': '1', 'x-b': '12' } } },
  },
  {
    name: 'what actions say of themselves is seen in the phase of answers',
    policy: {
      ...onRequest([action('add-headers', { headers: { 'x-a': '1' } })]),
      ...onResponse([action('add-headers', { headers: { 'x-seen': "${actions.add_headers.headers_added['x-a']}" } })]),
    },
    expected: { ...passed, headers: { 'x-seen': '1' } },
  },
  {
    name: 'variables are gone in the phase of answers',
    policy: {
      ...onRequest([action('set-vars', { vars: [{ a: 1 }] })]),
      ...onResponse([action('add-headers', { headers: { 'x-a': "${'a' in vars}" } })]),
    },
    expected: { ...passed, headers: { 'x-a': 'false' } },
  },
  {
    name: 'rules for answers see the answers of the policy itself',
    policy: { ...onRequest([hello()]), ...onResponse([action('add-headers', { headers: { 'x-seen': 'yes' } })]) },
    expected: { status: 200, body: 'hello', headers: { 'x-seen': 'yes' }, upstream: null },
  },
];

/** Expressions that cannot be answered. */
const failing: ValidDocument[] = [
  {
    name: 'a request that an expression cannot be asked about is refused',
    policy: onRequest([action('deny')], "req.headers['x-missing'][0] == 'a'"),
    expected: { status: 500, headers: { 'gateway-error-code': 'ERR_GATEWAY_2238' }, upstream: null },
  },
  {
    name: 'a request that a template cannot be computed for is refused',
    policy: onRequest([action('add-headers', { headers: { 'x-a': "${req.headers['x-missing'][0]}" } })]),
    expected: { status: 500, headers: { 'gateway-error-code': 'ERR_GATEWAY_2238' }, upstream: null },
  },
  {
    name: 'an answer that an expression cannot be asked about is held back',
    policy: onResponse([action('add-headers', { headers: { a: 'b' } })], "res.headers['x-missing'][0] == 'a'"),
    expected: { status: 500, headers: { 'gateway-error-code': 'ERR_GATEWAY_2238' } },
  },
  {
    name: 'an expression behind one that does not hold is not asked',
    policy: onRequest([action('deny')], "hasReqHeader('x-a')", "req.headers['x-a'][0] == 'a'"),
    expected: passed,
  },
];

export const shaped = [...shapes, ...failing];
