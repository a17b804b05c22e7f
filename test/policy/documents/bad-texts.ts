// Policies that are refused for their expressions, templates and header fields, and why.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { action, type InvalidDocument, onRequest, onResponse } from './support.ts';

const config = 'on_http_request[0].actions[0].config';

export const badTexts: InvalidDocument[] = [
  {
    name: 'an expression with a variable that is misspelt',
    policy: onRequest([action('deny')], "req.metod == 'GET'"),
    problem: ['on_http_request[0].expressions[0]', 2200, /character 1: .*req\.method/],
  },
  {
    name: 'an expression that is not finished',
    policy: onRequest([action('deny')], 'true', "req.method == 'GET"),
    problem: ['on_http_request[0].expressions[1]', 2200, /character \d+: /],
  },
  {
    name: 'an expression that is no condition',
    policy: onRequest([action('deny')], 'req.method'),
    problem: ['on_http_request[0].expressions[0]', 2200, /true or false/],
  },
  {
    name: 'an answer, asked about before there is one',
    policy: onRequest([action('deny')], 'res.status_code == 200'),
    problem: ['on_http_request[0].expressions[0]', 2200, /res/],
  },
  {
    name: 'visitors of an anonymous network',
    policy: onRequest([action('deny')], 'conn.client_ip.is_tor_node'),
    problem: ['on_http_request[0].expressions[0]', 2200, /lists of known addresses/],
  },
  {
    name: 'a template that cannot be computed',
    policy: onRequest([action('custom-response', { body: 'a ${req.nothing}' })]),
    problem: [`${config}.body`, 2224, /character \d+: /],
  },
  {
    name: 'a template that is not closed',
    policy: onRequest([action('custom-response', { body: '${req.method' })]),
    problem: [`${config}.body`, 2224, /character \d+: /],
  },
  {
    name: 'no header fields',
    policy: onRequest([action('add-headers', { headers: {} })]),
    problem: [`${config}.headers`, 2212, /1 to 10/],
  },
  {
    name: 'header fields that are missing',
    policy: onRequest([action('add-headers')]),
    problem: [`${config}.headers`, 2234, /is missing/],
  },
  {
    name: 'eleven header fields',
    policy: onRequest([
      action('add-headers', { headers: Object.fromEntries('abcdefghijk'.split('').map((name) => [name, '1'])) }),
    ]),
    problem: [`${config}.headers`, 2212, /1 to 10/],
  },
  {
    name: 'a name that no header field may have',
    policy: onRequest([action('add-headers', { headers: { 'a b': 'c' } })]),
    problem: [`${config}.headers.a b`, 2210, /name of a header field/],
  },
  {
    name: 'a name that is too long',
    policy: onRequest([action('add-headers', { headers: { ['a'.repeat(129)]: 'c' } })]),
    problem: [`${config}.headers.${'a'.repeat(129)}`, 2208, /1 to 128/],
  },
  {
    name: 'a value on two lines',
    policy: onRequest([action('add-headers', { headers: { a: 'b\nc: d' } })]),
    problem: [`${config}.headers.a`, 2211, /one line/],
  },
  {
    name: 'a value that is too long',
    policy: onRequest([action('add-headers', { headers: { a: 'b'.repeat(9000) } })]),
    problem: [`${config}.headers.a`, 2209, /8192 bytes/],
  },
  {
    name: 'a value that is a number',
    policy: onRequest([action('add-headers', { headers: { a: 1 } })]),
    problem: [`${config}.headers.a`, 2204, /put it in quotes, as "1"/],
  },
  {
    name: 'a host that is none',
    policy: onRequest([action('add-headers', { headers: { host: 'a/b' } })]),
    problem: [`${config}.headers.host`, 2211, /name of a host/],
  },
  {
    name: 'another user agent',
    policy: onRequest([action('add-headers', { headers: { 'User-Agent': 'x' } })]),
    problem: [`${config}.headers.User-Agent`, 2219, /cannot be changed/],
  },
  {
    name: 'another length',
    policy: onResponse([action('add-headers', { headers: { 'Content-Length': '1' } })]),
    problem: ['on_http_response[0].actions[0].config.headers.Content-Length', 2219, /gateway itself/],
  },
  {
    name: 'no host',
    policy: onRequest([action('remove-headers', { headers: ['Host'] })]),
    problem: [`${config}.headers[0]`, 2219, /every request has one/],
  },
  {
    name: 'header fields to remove that are no list',
    policy: onRequest([action('remove-headers', { headers: { a: 'b' } })]),
    problem: [`${config}.headers`, 2204, /must be a list of texts/],
  },
  {
    name: 'an empty name',
    policy: onRequest([action('remove-headers', { headers: [''] })]),
    problem: [`${config}.headers[0]`, 2223, /must not be empty/],
  },
];
