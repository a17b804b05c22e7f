// REST requests that are wrong as requests: their paths, methods, headers, queries and JSON.

import { newId } from '../../../src/store/ids.ts';
import type { RequestOptions } from '../../support/gateway/gateway.ts';
import type { World } from '../world.ts';

export interface HostileRequest {
  title: string;
  status: number;
  number: number;
  send(world: World): Promise<{ status: number; body: { error_code: string } }>;
}

type Text<T> = T | ((world: World) => T);

function request(
  title: string,
  status: number,
  number: number,
  call: Text<string>,
  body?: Text<unknown>,
  options?: RequestOptions,
): HostileRequest {
  return {
    title,
    status,
    number,
    send: (world) => {
      const [method = '', path = ''] = (typeof call === 'function' ? call(world) : call).split(' ', 2);
      return world.account.call(method, path, typeof body === 'function' ? body(world) : body, options);
    },
  };
}

const post = (title: string, number: number, body: unknown, status = 400) =>
  request(`body: ${title}`, status, number, 'POST /credentials', body);

const DEEP = 20_000;
const bodies = [
  post('half an object', 213, '{"description":'),
  post('a trailing comma', 213, '{"description":"x",}'),
  post('single quotes', 213, "{'description':'x'}"),
  post('a comment', 213, '{/* x */}'),
  post('NaN', 213, '{"description":NaN}'),
  post('two documents', 213, '{}{}'),
  post('blanks alone', 213, '   '),
  post('a byte order mark', 213, '\ufeff{}'),
  post('a control character in a string', 213, '{"description":"a\nb"}'),
  post('Latin-1', 213, Buffer.from('{"description":"é"}', 'latin1')),
  post('a surrogate in UTF-8', 213, Buffer.from([...Buffer.from('{"description":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d])),
  post('UTF-16', 213, Buffer.from('{}', 'utf16le')),
  post('an array', 213, '[]'),
  post('an array of one body', 213, '[{}]'),
  post('a string', 213, '"x"'),
  post('a number', 213, '5'),
  post('null', 213, 'null'),
  post('true', 213, 'true'),
  post('a member twice', 90005, '{"description":"a","description":"b"}'),
  post('a member twice, once escaped', 90005, '{"acl":[],"\\u0061cl":["*"]}'),
  post('__proto__', 90006, '{"__proto__":{"acl":["*"]}}'),
  post('__proto__ further in, escaped', 90006, '{"acl":[{"\\u005f_proto__":1}]}'),
  post('constructor', 214, '{"constructor":{"prototype":{}}}'),
  post('toString', 214, '{"toString":"x"}'),
  post('a name of GraphQL', 214, { ownerId: 'x' }),
  post('an argument of GraphQL', 214, { input: {} }),
  post('idempotencyKey', 214, { idempotencyKey: 'x' }),
  post('a member that only answers have', 214, { token: 'x' }),
  post('an account of one’s choice', 214, { account_id: 'ac_x' }),
  post('arrays in arrays, very deep', 215, `{"description":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`),
  post('objects in objects, very deep', 215, `{"acl":${'{"a":'.repeat(8000)}1${'}'.repeat(8000)}}`),
  post('an unclosed depth', 213, '['.repeat(DEEP)),
  post('65 KiB', 90004, { metadata: 'x'.repeat(65 * 1024) }, 413),
  post('one byte more than 64 KiB', 90004, `{}${' '.repeat(64 * 1024 - 1)}`, 413),
  request('body: 65 KiB in chunks', 413, 90004, 'POST /credentials', `{}${' '.repeat(65 * 1024)}`, {
    headers: { 'transfer-encoding': 'chunked' },
  }),
  request('body: on a GET', 400, 211, 'GET /credentials', {}),
  request('body: on a DELETE', 400, 211, ({ ids }) => `DELETE /credentials/${ids.credential}`, { force: true }),
  request(
    'body: of another module',
    400,
    214,
    ({ ids }) => `PUT /edges/tls/${ids.tlsEdge}/mutual_tls`,
    ({ ids }: World) => ({
      backend_id: ids.backend,
    }),
  ),
];

const lists = [
  '/credentials',
  '/endpoints',
  '/cloud_endpoints',
  '/tunnels',
  '/tunnel_sessions',
  '/reserved_domains',
  '/edges/https',
  '/edges/tls',
  '/backends/tunnel_group',
  '/backends/weighted',
  '/backends/failover',
  '/backends/http_response',
  '/backends/static',
  '/certificate_authorities',
  '/tls_certificates',
  '/ip_policies',
  '/ip_policy_rules',
  '/ip_restrictions',
  '/vaults',
  '/vault_secrets',
  '/app/users',
  '/app/sessions',
  '/event_destinations',
  '/event_subscriptions',
  '/bot_users',
  '/service_users',
  '/api_keys',
];

const query = (text: Text<string>, number: number, list = '/credentials') =>
  request(
    `query: ${list}?${typeof text === 'string' ? text : 'a cursor of another list'}`,
    400,
    number,
    (world) => `GET ${list}?${typeof text === 'function' ? text(world) : text}`,
  );

const queries = [
  ...lists.map((list) => query(`before_id=${newId('op')}`, 227, list)),
  ...lists.map((list) => query('limit=101', 233, list)),
  query(({ ids }) => `before_id=${ids.apiKey}`, 227),
  query(({ ids }) => `before_id=${ids.credential}`, 227, '/api_keys'),
  query(({ ids }) => `before_id=${ids.tlsEdge}`, 227, '/edges/https'),
  query(({ ids }) => `before_id=${ids.endpoint}`, 227, '/tunnels'),
  query('before_id=', 227),
  query('before_id=cr_', 227),
  query('before_id=%00', 227),
  query(`before_id=cr_${'x'.repeat(5000)}`, 227),
  query('limit=0', 233),
  query('limit=-1', 233),
  query('limit=abc', 244),
  query('limit=', 244),
  query('limit=1.5', 244),
  query('limit=1e1', 244),
  query('limit=0x10', 244),
  query('limit=%2010', 244),
  query(`limit=${'9'.repeat(400)}`, 244),
  query('limit=1&limit=2', 232),
  query('limit[]=1', 231),
  query('page=2', 231),
  query('constructor=1', 231),
  query('filter=x', 250, '/endpoints'),
  query('orderBy=id', 231, '/endpoints'),
  query('order_by=color', 90480, '/endpoints'),
  request('query: on a get', 400, 231, ({ ids }) => `GET /credentials/${ids.credential}?limit=1`),
  request('query: on a create', 400, 231, 'POST /credentials?description=x', {}),
  request('query: on a delete', 400, 231, ({ ids }) => `DELETE /credentials/${ids.credential}?force=true`),
];

const notThere = [
  '/credential',
  '/Credentials',
  '/credentials/',
  '/.//credentials', // Which is //credentials.
  '/v2/credentials',
  '/api/credentials',
  '/users',
  '/edges',
  '/edges/udp',
  '/backends',
  '/credentials/x/y',
  '/credentials;x=1',
  '/%2563redentials',
  '/.env',
  '/..%2f..%2fetc%2fpasswd',
  '/credentials/%',
  '/credentials/%zz',
  '/credentials/%ff',
  '/__proto__',
  `/${'x'.repeat(8000)}`,
];
const methods: [call: string, path: (world: World) => string][] = [
  ...['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'].map(
    (method) => [method, () => '/credentials'] as [string, () => string],
  ),
  ...['POST', 'PUT'].map(
    (method) => [method, ({ ids }: World) => `/credentials/${ids.credential}`] as [string, () => string],
  ),
  ['PUT', () => '/endpoints'],
  ...['POST', 'PATCH', 'DELETE'].map(
    (method) => [method, ({ ids }: World) => `/endpoints/${ids.endpoint}`] as [string, (world: World) => string],
  ),
  ['POST', () => '/endpoints'],
  ['PATCH', ({ ids }) => `/tunnels/${ids.tunnel}`],
  ['POST', ({ ids }) => `/tunnel_sessions/${ids.session}`],
  ['GET', ({ ids }) => `/edges/https/${ids.httpsEdge}/routes`],
  ['POST', ({ ids }) => `/edges/tls/${ids.tlsEdge}/mutual_tls`],
  ['PATCH', ({ ids }) => `/edges/https/${ids.httpsEdge}/routes/${ids.route}/circuit_breaker`],
];

const paths = [
  ...notThere.map((path) => request(`path: ${path.slice(0, 40)}`, 404, 90002, `GET ${path}`)),
  ...methods.map(([method, path], index) =>
    request(`method: ${method} #${index}`, 405, 90003, (world) => `${method} ${path(world)}`),
  ),
];

const header = (title: string, status: number, number: number, headers: RequestOptions['headers']) =>
  request(`header: ${title}`, status, number, 'POST /credentials', {}, { headers });

const headers = [
  header('two versions', 400, 217, { 'service-version': ['2', '2'] }),
  header('version 3', 400, 217, { 'service-version': '3' }),
  header('version 2.0', 400, 217, { 'service-version': '2.0' }),
  header('no version', 400, 218, { 'service-version': undefined }),
  header('no content type', 415, 216, { 'content-type': undefined }),
  header('a form', 415, 210, { 'content-type': 'application/x-www-form-urlencoded' }),
  header('JSON in Latin-1', 415, 210, { 'content-type': 'application/json; charset=latin1' }),
  header('JSON with a suffix', 415, 210, { 'content-type': 'application/jsonx' }),
  header('gzip', 415, 210, { 'content-encoding': 'gzip' }),
  header('an empty idempotency key', 400, 90009, { 'idempotency-key': '' }),
  header('an idempotency key of 256', 400, 90009, { 'idempotency-key': 'k'.repeat(256) }),
  header('an idempotency key beyond ASCII', 400, 90009, { 'idempotency-key': 'clé' }),
  header('an idempotency key with a tab', 400, 90009, { 'idempotency-key': 'a\tb' }),
  header('no key', 401, 200, { authorization: undefined }),
  header('an id for a key', 401, 208, { authorization: `Bearer ${newId('ak')}` }),
  header('a long key', 401, 202, { authorization: `Bearer ${'k'.repeat(4000)}` }),
];

export const hostileRequests = [...bodies, ...queries, ...paths, ...headers];
