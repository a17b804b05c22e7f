import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trafficObjects } from '../../../src/events/traffic/gateway-objects.ts';
import type { TrafficType } from '../../../src/events/traffic/objects.ts';
import type { ObjectShape } from '../../../src/events/traffic/report-fields.ts';
import { Selection } from '../../../src/events/traffic/selection.ts';
import { bareReport, connectionReport, requestReport } from './support.ts';

const types = Object.keys(trafficObjects) as TrafficType[];
const reports = { 'http_request_complete.v0': requestReport(), 'tcp_connection_closed.v0': connectionReport() };

/** What is delivered of the report with all there is. */
function written(type: TrafficType, fields: readonly string[] = []) {
  const shape = trafficObjects[type].shape as ObjectShape<unknown>;
  return JSON.parse(new Selection(shape, fields).write(reports[type]));
}

const ofRequest = (report = requestReport(), fields: readonly string[] = []) =>
  JSON.parse(new Selection(trafficObjects['http_request_complete.v0'].shape, fields).write(report));

test('the whole object of a request', () => {
  expect(ofRequest()).toEqual({
    backend: { connection_reused: true },
    basic_auth: { decision: 'deny', username: 'zoë\n' },
    circuit_breaker: { decision: 'allow_while_open' },
    compression: { algorithm: 'gzip', bytes_saved: 99 },
    conn: {
      client_ip: '203.0.113.7',
      server_ip: '10.0.0.5',
      server_name: 'shop.example.com',
      server_port: 443,
      start_ts: '2026-11-21T09:00:00.007Z',
    },
    http: {
      request: {
        method: 'GET',
        version: 'HTTP/1.1',
        url: {
          scheme: 'https',
          host: 'shop.example.com:8443',
          path: '/a/%62',
          query: 'page=2&q=%22',
          raw: 'https://shop.example.com:8443/a/%62?page=2&q=%22',
        },
        user_agent: 'curl/8.5 "quoted"',
        headers: {
          host: ['shop.example.com:8443'],
          'user-agent': ['curl/8.5 "quoted"'],
          accept: ['text/html', '*/*'],
          authorization: ['***'],
        },
        body_length: 3,
        first_byte_ts: '2026-11-21T09:00:01.000Z',
        last_byte_ts: '2026-11-21T09:00:01.045Z',
      },
      response: {
        status_code: 503,
        headers: { 'content-type': ['text/plain'], 'set-cookie': ['***', '***'] },
        body_length: 1234,
        first_byte_ts: '2026-11-21T09:00:02.005Z',
        last_byte_ts: '2026-11-21T09:00:03.999Z',
      },
    },
    ip_policy: { decision: 'allow' },
    oauth: { app_client_id: 'shop', decision: 'allow', user: { id: '17', name: 'Zoë' } },
    tls: {
      version: 'TLSv1.3',
      cipher_suite: 'TLS_AES_128_GCM_SHA256',
      client_cert: { serial_number: '0A1B', subject: { cn: 'till 3' } },
    },
    traffic_policy: { logs: [{ level: 'info', parts: [1, { x: true }] }] },
    user_agent_filter: { decision: 'allow' },
    webhook_verification: { decision: 'deny' },
  });
});

test('the whole object of a connection', () => {
  expect(written('tcp_connection_closed.v0')).toEqual({
    conn: {
      bytes_in: 10,
      bytes_out: 2 ** 40,
      client_ip: '203.0.113.7',
      end_ts: '2026-11-21T09:01:00.007Z',
      server_ip: '10.0.0.5',
      server_name: 'shop.example.com',
      server_port: 443,
      start_ts: '2026-11-21T09:00:00.007Z',
    },
    ip_policy: { decision: 'allow' },
    traffic_policy: { logs: [] },
  });
});

test('what there was not is null, as a whole', () => {
  const object = ofRequest(bareReport());
  const nulls = Object.keys(object).filter((name) => object[name] === null);
  expect(nulls).toEqual([
    ...['basic_auth', 'circuit_breaker', 'compression', 'ip_policy', 'oauth', 'tls', 'traffic_policy'],
    ...['user_agent_filter', 'webhook_verification'],
  ]);
  expect(object.http.response).toBeNull();
  expect(Object.keys(object)).toEqual(Object.keys(ofRequest()));
  const tls = { version: 'TLSv1.2', cipherSuite: 'X', clientCertificate: undefined };
  expect(ofRequest(bareReport({ tls })).tls).toEqual({ version: 'TLSv1.2', cipher_suite: 'X', client_cert: null });
  expect(ofRequest(bareReport(), ['tls.client_cert.subject.cn'])).toEqual({ tls: null });
});

describe.each(types)('%s', (type) => {
  const shape = trafficObjects[type].shape as ObjectShape<unknown>;
  const whole = written(type);

  test('has the fields of the catalogue, with their types', () => {
    const members = Object.entries(shape.fields).map(([name, { type }]) => ({ name, type }));
    const documented = trafficObjects[type].fields.map(({ name, type }) => ({ name, type }));
    expect(members.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(documented);
    const leaves = leavesOf(whole, shape);
    expect(leaves).toEqual(documented.map(({ name }) => name));
    for (const { name, type } of documented)
      expect([name, jsonType(valueAt(whole, name))]).toEqual([name, JSON_TYPE[type]]);
  });

  test('each field alone gives this path and no other', () => {
    for (const { name } of trafficObjects[type].fields) expect(written(type, [name])).toEqual(only(whole, [name]));
  });

  test('a selection is what it names of the whole object, in the same order', () => {
    const names = trafficObjects[type].fields.map(({ name }) => name);
    const prefixes = names.flatMap((name) => name.split('.').map((_, i, parts) => parts.slice(0, i + 1).join('.')));
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...prefixes), { minLength: 1 }), (fields) => {
        const selected = names.filter((name) => fields.some((field) => `${name}.`.startsWith(`${field}.`)));
        expect(written(type, fields)).toEqual(only(whole, selected));
        expect(written(type, fields)).toEqual(written(type, [...fields].reverse()));
      }),
    );
  });
});

test('any text comes through', () => {
  const units = fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes));
  fc.assert(
    fc.property(units, fc.string(), (username, method) => {
      const decisions = { basic_auth: { decision: 'allow' as const, username } };
      const report = requestReport({ decisions, request: { ...requestReport().request, method } });
      const object = ofRequest(report, ['basic_auth', 'http.request.method']);
      expect(object).toEqual({ basic_auth: { decision: 'allow', username }, http: { request: { method } } });
    }),
  );
});

test('any header fields come through: names in lower case, values in their order, secrets hidden', () => {
  const name = fc.oneof(
    fc.constantFrom('Accept', 'accept', 'Cookie', 'COOKIE', 'proxy-Authorization', 'X-A', 'x-a', '__proto__'),
    fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,80}$/),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.string())), (fields) => {
      const headers = ofRequest(requestReport({ request: { ...requestReport().request, fields } }), [
        'http.request.headers',
      ]).http.request.headers;
      const expected = new Map<string, string[]>();
      for (const [written, value] of fields) {
        const lower = written.toLowerCase();
        const shown = /^(cookie|proxy-authorization|authorization|set-cookie)$/.test(lower) ? '***' : value;
        expected.set(lower, [...(expected.get(lower) ?? []), shown]);
      }
      expect(new Map(Object.entries(headers))).toEqual(expected);
    }),
  );
});

test('more names than are kept come through, too', () => {
  const { request } = requestReport();
  for (let round = 0; round < 30; round++) {
    const fields = Array.from({ length: 100 }, (_, n) => [`X-${round}-${n}`, 'v'] as const);
    const twice = [...fields, ...fields];
    const { headers } = ofRequest(requestReport({ request: { ...request, fields: twice } })).http.request;
    expect(headers).toEqual(Object.fromEntries(fields.map(([name]) => [name.toLowerCase(), ['v', 'v']])));
  }
});

test('targets that are no paths', () => {
  const url = (target: string) =>
    ofRequest(requestReport({ request: { ...requestReport().request, target } }), ['http.request.url']).http.request
      .url;
  expect(url('*')).toMatchObject({ path: '*', query: '', raw: 'https://shop.example.com:8443' });
  expect(url('/?')).toMatchObject({ path: '/', query: '', raw: 'https://shop.example.com:8443/?' });
  expect(url('/a?b?c')).toMatchObject({ path: '/a', query: 'b?c' });
});

const JSON_TYPE = {
  string: 'string',
  timestamp: 'string',
  number: 'number',
  boolean: 'boolean',
  headers: 'object',
  list: 'array',
};
const jsonType = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value);

type Tree = { [name: string]: Tree };

const valueAt = (tree: Tree, path: string) => path.split('.').reduce((at, name) => at[name] as Tree, tree);

/** The paths at which a member ends, in alphabetical order. */
function leavesOf(tree: Tree, { fields: members }: ObjectShape<unknown>, prefix = ''): string[] {
  const leaves = Object.entries(tree).flatMap(([name, value]) => {
    const path = prefix + name;
    return Object.hasOwn(members, path) ? [path] : leavesOf(value, { fields: members, nullable: {} }, `${path}.`);
  });
  return leaves.sort();
}

function only(whole: Tree, paths: readonly string[]): Tree {
  const result: Tree = {};
  for (const path of paths) {
    const names = path.split('.');
    const last = names.pop() as string;
    let at = result;
    for (const name of names) {
      at[name] ??= {};
      at = at[name] as Tree;
    }
    at[last] = valueAt(whole, path);
  }
  return result;
}
