// Policies that answer themselves, or ask others, and what a visit makes of them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { action, onRequest, onResponse, type ValidDocument } from './support.ts';

const passed = { status: 200, body: 'from upstream' };
const add = (headers: object) => action('add-headers', { headers });

export const answering: ValidDocument[] = [
  {
    name: 'a text is answered',
    policy: onRequest([action('custom-response', { body: 'Hello ${req.method}!' })]),
    expected: {
      status: 200,
      body: 'Hello GET!',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      upstream: null,
    },
  },
  {
    name: 'JSON is answered as such',
    policy: onRequest([action('custom-response', { status_code: 404, body: '{"error": "gone"}' })]),
    expected: {
      status: 404,
      body: '{"error": "gone"}',
      headers: { 'content-type': 'application/json' },
      upstream: null,
    },
  },
  {
    name: 'a page is answered as such',
    policy: onRequest([action('custom-response', { body: '<h1>Hi</h1>' })]),
    expected: {
      status: 200,
      body: '<h1>Hi</h1>',
      headers: { 'content-type': 'text/html; charset=utf-8' },
      upstream: null,
    },
  },
  {
    name: 'the type of an answer is what the policy says',
    policy: onRequest([
      action('custom-response', { body: 'a,b', headers: { 'Content-Type': 'text/csv', 'x-b': 'c' } }),
    ]),
    expected: { status: 200, body: 'a,b', headers: { 'content-type': 'text/csv', 'x-b': 'c' }, upstream: null },
  },
  {
    name: 'an answer has one date, which is that of the policy where it has one',
    policy: onRequest([action('custom-response', { body: 'a', headers: { Date: 'Thu, 01 Jan 2026 00:00:00 GMT' } })]),
    expected: { status: 200, headers: { date: 'Thu, 01 Jan 2026 00:00:00 GMT' }, upstream: null },
  },
  {
    name: 'an answer in the words of 2024',
    policy: {
      inbound: [{ actions: [action('custom-response', { status_code: 200, content: 'a', content_type: 'text/css' })] }],
    },
    expected: { status: 200, body: 'a', headers: { 'content-type': 'text/css' }, upstream: null },
  },
  {
    name: 'an answer has no body',
    policy: onRequest([action('custom-response', { status_code: 204 })]),
    expected: { status: 204, body: '', without: ['content-type'], upstream: null },
  },
  {
    name: 'the answer of upstream is replaced',
    policy: onResponse([action('custom-response', { status_code: 503, body: 'Later.' })], 'res.status_code >= 500'),
    origin: { status: 500, body: 'a stack trace' },
    expected: { status: 503, body: 'Later.', without: ['x-upstream'] },
  },
  {
    name: 'an answer that compresses badly is left alone',
    policy: onResponse([action('compress-response', { algorithms: ['gzip'] })]),
    request: { headers: { 'accept-encoding': 'gzip' } },
    expected: { ...passed, without: ['content-encoding'] },
  },
  {
    name: 'a visitor who takes no encoding gets none',
    policy: onResponse([action('compress-response'), add({ 'x-is': '${actions.compress.already_compressed}' })]),
    origin: { headers: { 'content-type': 'text/plain' }, body: 'a'.repeat(1000) },
    expected: { status: 200, body: 'a'.repeat(1000), headers: { 'x-is': 'false' }, without: ['content-encoding'] },
  },
  {
    name: 'an internal endpoint that is not online is an error',
    policy: onRequest([action('forward-internal', { url: 'https://nowhere.internal' })]),
    expected: { status: 502, headers: { 'gateway-error-code': 'ERR_GATEWAY_90132' }, upstream: null },
  },
  {
    name: 'an internal endpoint that is not online may be gone without',
    policy: onRequest([
      action('forward-internal', { url: 'https://nowhere.internal', on_error: 'continue' }),
      add({ 'x-why': '${actions.forward_internal.error.code}' }),
    ]),
    expected: { ...passed, upstream: { headers: { 'x-why': 'ERR_GATEWAY_90132' } } },
  },
];
