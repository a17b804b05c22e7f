// Policies that let visitors in or turn them away, and what a visit makes of them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { action, onConnect, onRequest, type ValidDocument } from './support.ts';

const passed = { status: 200, body: 'from upstream' };
const denied = { status: 403, body: '', upstream: null };

/** Who is let in. */
export const guarding: ValidDocument[] = [
  { name: 'everybody is turned away', policy: onRequest([action('deny')]), expected: denied },
  {
    name: 'visitors are turned away by method',
    policy: onRequest([action('deny', { status_code: 405 })], "req.method != 'GET'"),
    request: { method: 'DELETE' },
    expected: { status: 405, body: '', upstream: null },
  },
  {
    name: 'visitors are turned away by path, and others are not',
    policy: onRequest([action('deny')], "req.url.path.startsWith('/admin')"),
    request: { target: '/public?a=b' },
    expected: { ...passed, upstream: { target: '/public?a=b' } },
  },
  {
    name: 'visitors are turned away by a header, whatever its case',
    policy: onRequest([action('deny')], "getReqHeader('X-Robot') == ['yes']"),
    request: { headers: { 'x-rObOt': 'yes' } },
    expected: denied,
  },
  {
    name: 'connections are closed before there is a request',
    policy: onConnect([action('deny')]),
    expected: { status: undefined, upstream: null },
  },
  {
    name: 'connections are closed by address',
    policy: onConnect([action('close-connection')], "inCidrRange(conn.client_ip, '127.0.0.0/8')"),
    expected: { status: undefined, upstream: null },
  },
  {
    name: 'a connection is closed in place of an answer',
    policy: onRequest([action('close-connection')], "req.url.path == '/bye'"),
    request: { target: '/bye' },
    expected: { status: undefined, upstream: null },
  },
  {
    name: 'an address that is denied is turned away',
    policy: onRequest([action('restrict-ips', { deny: ['127.0.0.0/8'] })]),
    expected: { status: 403, headers: { 'gateway-error-code': 'ERR_GATEWAY_3205' }, upstream: null },
  },
  {
    name: 'an address that is not denied is let in',
    policy: onRequest([action('restrict-ips', { deny: ['10.0.0.0/8'] })]),
    expected: passed,
  },
  {
    name: 'an address that is not allowed is turned away',
    policy: onRequest([action('restrict-ips', { allow: ['10.0.0.0/8', '2001:db8::/32'] })]),
    expected: { status: 403, upstream: null },
  },
  {
    name: 'denied wins over allowed',
    policy: onRequest([action('restrict-ips', { allow: ['127.0.0.0/8'], deny: ['127.0.0.1'] })]),
    expected: { status: 403, upstream: null },
  },
  {
    name: 'an address is only looked at where nothing is enforced',
    policy: onRequest([
      action('restrict-ips', { deny: ['127.0.0.1'], enforce: false }),
      action('add-headers', { headers: { 'x-is': '${actions.restrict_ips.action}' } }),
    ]),
    expected: { ...passed, upstream: { headers: { 'x-is': 'deny' } } },
  },
  {
    name: 'a network is computed',
    policy: onRequest([action('restrict-ips', { allow: ['${conn.client_ip}/32'] })]),
    expected: passed,
  },
  {
    name: 'what a visitor says of its address does not count',
    policy: onRequest([action('restrict-ips', { allow: ['10.0.0.1'] })]),
    request: { headers: { 'x-forwarded-for': '10.0.0.1' } },
    expected: { status: 403, upstream: null },
  },
  {
    name: 'connections are closed by a list of addresses',
    policy: onConnect([action('restrict-ips', { allow: ['10.0.0.0/8'] })]),
    expected: { status: undefined, upstream: null },
  },
  {
    name: 'a first request is within a limit',
    policy: onRequest([
      action('rate-limit', {
        name: 'per visitor',
        algorithm: 'sliding_window',
        capacity: 2,
        rate: '60s',
        bucket_key: ['conn.client_ip'],
      }),
    ]),
    expected: passed,
  },
  {
    name: 'a second request is above a limit of one',
    policy: onRequest(
      ['first', 'second'].flatMap(() => [
        action('rate-limit', {
          name: 'one',
          algorithm: 'sliding_window',
          capacity: 2_000_000_000,
          rate: '1h30m',
          bucket_key: ['req.host', 'req.method'],
          enforce: false,
        }),
      ]),
    ),
    expected: passed,
  },
  {
    name: 'a closed circuit breaker lets requests pass',
    policy: onRequest([action('circuit-breaker', { error_threshold: 0.1, volume_threshold: 1 })]),
    expected: passed,
  },
];
