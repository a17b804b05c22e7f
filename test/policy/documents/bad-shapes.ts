// Policies that are refused for their shape, or for which actions stand where, and why.

import { action, type InvalidDocument, onConnect, onRequest, onResponse } from './support.ts';

const at = 'on_http_request[0].actions[0]';
const config = `${at}.config`;

const shapes: InvalidDocument[] = [
  { name: 'a list', policy: [], problem: ['', 2236, /must be an object/] },
  { name: 'nothing', policy: '', problem: ['', 2236, /must be an object/] },
  {
    name: 'neither JSON nor YAML',
    policy: '{"a": [}',
    problem: ['', 2236, /neither JSON nor YAML: .*line 1, column 8/],
  },
  {
    name: 'YAML that is not indented as it has to be',
    policy: 'on_http_request:\n  - actions:\n    - type: deny\n   name: x\n',
    problem: ['', 2236, /line 4, column \d/],
  },
  { name: 'a key twice', policy: 'inbound: []\ninbound: []', problem: ['', 2236, /unique.*line 2, column 1/] },
  {
    name: 'a bomb of names for parts',
    policy: `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replace(/./g, (c) => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`,
    problem: ['', 2236, /cannot be read: .*alias/],
  },
  {
    name: 'more than a policy may have',
    policy: ' '.repeat(600_000),
    problem: ['', 2236, /at most 131072 characters/],
  },
  { name: 'a phase that is not known', policy: { on_request: [] }, problem: ['on_request', 2204, /is not known here/] },
  {
    name: 'a rule without an action',
    policy: onRequest([]),
    problem: ['on_http_request[0].actions', 2206, /at least one/],
  },
  {
    name: 'two names for one phase',
    policy: { inbound: [], on_http_request: [] },
    problem: ['on_http_request', 2231, /inbound/],
  },
  {
    name: 'requests on an endpoint for TCP',
    policy: onRequest([action('deny')]),
    proto: 'tcp',
    problem: ['on_http_request', 2230, /use on_tcp_connect/],
  },
  {
    name: 'what is wrong in a policy that is switched off',
    policy: { enabled: false, ...onRequest([action('denny')]) },
    problem: [`${at}.type`, 2201, /did you mean deny\?/],
  },
];

const actions: InvalidDocument[] = [
  {
    name: 'an action that nobody knows',
    policy: onRequest([action('teleport')]),
    problem: [`${at}.type`, 2201, /known are: add-headers/],
  },
  {
    name: 'signing in',
    policy: onRequest([action('saml')]),
    problem: [`${at}.type`, 2201, /identity provider.*later version/],
  },
  {
    name: 'a gateway to language models',
    policy: onRequest([action('ai-gateway')]),
    problem: [`${at}.type`, 2201, /not available in this version/],
  },
  {
    name: 'an action in a phase that it is not for',
    policy: onResponse([action('redirect', { to: '/' })]),
    problem: ['on_http_response[0].actions[0].type', 2202, /is for on_http_request, not for on_http_response/],
  },
  {
    name: 'headers of a connection',
    policy: onConnect([action('add-headers', { headers: { a: 'b' } })]),
    problem: ['on_tcp_connect[0].actions[0].type', 2202, /on_http_request and on_http_response/],
  },
  {
    name: 'TLS on an endpoint that has none',
    policy: onConnect([action('terminate-tls')]),
    proto: 'tcp',
    problem: ['on_tcp_connect[0].actions[0].type', 2205, /https and tls/],
  },
  {
    name: 'an action behind one that ends it',
    policy: onRequest([action('deny'), action('log', { metadata: {} })]),
    problem: ['on_http_request[0].actions[1]', 2207, /deny before it/],
  },
  {
    name: 'a rule behind one that ends it for everybody',
    policy: { on_http_request: [{ actions: [action('deny')] }, { actions: [action('deny')] }] },
    problem: ['on_http_request[1]', 2207, /on_http_request\[0\] ends the phase/],
  },
  {
    name: 'an action behind one that forwards all',
    policy: onRequest([action('forward-internal', { url: 'https://a.internal' }), action('deny')]),
    problem: ['on_http_request[0].actions[1]', 2207, /forward-internal/],
  },
  {
    name: 'a setting that is misspelt',
    policy: onRequest([action('deny', { statuscode: 404 })]),
    problem: [`${config}.statuscode`, 2204, /known are: status_code/],
  },
  {
    name: 'settings where there are none',
    policy: onRequest([action('close-connection', { now: true })]),
    problem: [`${config}.now`, 2204, /no settings/],
  },
  {
    name: 'a status as a text',
    policy: onRequest([action('deny', { status_code: '404' })]),
    problem: [`${config}.status_code`, 2204, /a whole number from 200 to 599/],
  },
  {
    name: 'a status that there is not',
    policy: onRequest([action('deny', { status_code: 999 })]),
    problem: [`${config}.status_code`, 2215, /from 200 to 599/],
  },
  {
    name: 'a status for a connection',
    policy: onConnect([action('deny', { status_code: 404 })]),
    problem: ['on_tcp_connect[0].actions[0].config.status_code', 2204, /the connection is closed/],
  },
  {
    name: 'a body where there is none',
    policy: onRequest([action('custom-response', { status_code: 204, body: 'a' })]),
    problem: [`${config}.body`, 2204, /204 has no body/],
  },
  {
    name: 'a body under both of its names',
    policy: onRequest([action('custom-response', { body: 'a', content: 'b' })]),
    problem: [`${config}.content`, 2231, /older name of body/],
  },
  {
    name: 'a type under both of its names',
    policy: onRequest([action('custom-response', { content_type: 'a/b', headers: { 'Content-Type': 'a/b' } })]),
    problem: [`${config}.content_type`, 2231, /twice/],
  },
];

export const badShapes = [...shapes, ...actions];
