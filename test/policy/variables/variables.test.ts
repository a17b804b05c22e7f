// What expressions can speak of: each name, its type, its value.

import { type CelType, type CelValue, celType, isCelList, isCelMap } from '@bufbuild/cel';
import { describe, expect, test } from 'vitest';
import { SECRETS_VARIABLE } from '../../../src/policy/cel/secret-names.ts';
import { type About, bindingsOf } from '../../../src/policy/cel/variables/bindings.ts';
import { vocabularyOf } from '../../../src/policy/cel/variables/phase-vocabulary.ts';
import type { PolicyPhase } from '../../../src/policy/cel/vocabulary.ts';
import { FOREIGN_NAMESPACE } from '../../../src/tunnel/control/compatibility.ts';
import { connectionOf, environmentOf, exchangeOf } from '../exchange-support.ts';
import { evaluate, newState, plainly } from './support.ts';

const PHASES: PolicyPhase[] = ['on_tcp_connect', 'on_http_request', 'on_http_response'];

/** With something in all that can be empty, and with nothing. */
const rich: About = {
  exchange: exchangeOf({
    method: 'POST',
    target: '/a?b=c',
    fields: [
      ['Cookie', 'a=1; b=2'],
      ['Content-Type', 'text/html; charset=utf-8'],
      ['Content-Encoding', 'gzip'],
      ['User-Agent', 'curl/8.4.0'],
    ],
    body: 'x',
    status: 200,
    answerFields: [
      ['Set-Cookie', 'a=1; Max-Age=60; Expires=Sat, 21 Nov 2026 12:00:00 GMT'],
      ['Content-Type', 'text/css'],
    ],
  }),
};
const bare: About = { exchange: exchangeOf({ status: 204 }) };

/** What is wrong with a value of a variable; undefined when it is of the type. */
function mismatch(type: CelType, value: CelValue): string | undefined {
  if (type.name === 'dyn') return undefined;
  if (celType(value).name !== type.name) return `${celType(value)} in place of ${type}`;
  if (type.kind === 'list' && isCelList(value))
    return [...value].map((one) => mismatch(type.element, one)).find(Boolean);
  if (type.kind === 'map' && isCelMap(value)) {
    const entries = [...value].map(([key, one]) => mismatch(type.key, key) ?? mismatch(type.value, one));
    return entries.find(Boolean);
  }
  return undefined;
}

describe.each(PHASES)('in %s', (phase) => {
  const { variables, missing, contextual, functions } = vocabularyOf(phase, 'https');
  const visits = phase === 'on_tcp_connect' ? [{ connection: connectionOf() }] : [rich, bare];

  test('every variable has a value of its type, whatever there is of a visit', () => {
    const wrong = visits.flatMap((about) =>
      Object.entries(variables).flatMap(([name, type]) => {
        if (name === SECRETS_VARIABLE) return []; // No expression can write it.
        const problem = mismatch(type, evaluate(name, about, { phase }));
        return problem ? `${name}: ${problem}` : [];
      }),
    );
    expect(wrong).toEqual([]);
    expect(Object.keys(variables).length).toBeGreaterThan(60);
  });

  test('there is a value for each name of the vocabulary and for no other', () => {
    const bindings = bindingsOf(visits[0] as About, phase, newState(), environmentOf());
    const names: string[] = [];
    for (const name in bindings) names.push(name);
    expect(names.sort()).toEqual(Object.keys(variables).sort());
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
      expect(bindings[name]).toBeUndefined();
  });

  test('no name that is missing has a value, and each says why', () => {
    for (const [name, reason] of Object.entries(missing)) {
      expect(Object.keys(variables).filter((one) => one === name || one.startsWith(`${name}.`))).toEqual([]);
      expect(reason).toMatch(/^(is|needs|cannot|would) .{10,}/);
    }
  });

  test('a function that sees a variable finds it, and has one signature', () => {
    expect(functions.map(({ name }) => name).sort()).toEqual(Object.keys(contextual).sort());
    for (const variable of Object.values(contextual)) expect(variables).toHaveProperty([variable]);
  });
});

test('what is asked about is the same object each time', () => {
  expect(vocabularyOf('on_http_request', 'https')).toBe(vocabularyOf('on_http_request', 'https'));
});

test.each<[PolicyPhase, string, RegExp]>([
  ['on_http_request', 'conn.client_ip.categories', /lists of known addresses/],
  ['on_http_request', 'conn.server_ip.is_on_blocklist', /lists of known addresses/],
  ['on_http_request', 'req.body', /policies see heads only/],
  ['on_http_request', 'res', /in on_http_response/],
  ['on_http_request', 'getResHeader', /in on_http_response/],
  ['on_http_response', 'res.ServerTLS', /agent/],
  ['on_tcp_connect', 'req', /in on_http_request and on_http_response/],
  ['on_tcp_connect', 'hasReqCookie', /in on_http_request and on_http_response/],
])('in %s, who asks for %s is told why it is not there', (phase, name, reason) => {
  expect(vocabularyOf(phase, 'https').missing[name]).toMatch(reason);
});

test('a TCP endpoint has no TLS to be asked for', () => {
  const { variables, missing } = vocabularyOf('on_tcp_connect', 'tcp');
  expect(Object.keys(variables).filter((name) => /^conn\.tls/i.test(name))).toEqual([]);
  expect(missing['conn.tls']).toMatch(/TCP endpoint/);
  expect(variables['conn.client_ip']).toBeDefined();
});

test('a connection is told of in every phase', () => {
  const connection = connectionOf({ serverName: 'app.example.com', bytesIn: 517 });
  for (const [about, phase] of [
    [{ connection }, 'on_tcp_connect'],
    [{ exchange: exchangeOf({ serverName: 'app.example.com', bytesIn: 517 }) }, 'on_http_request'],
  ] as [About, PolicyPhase][]) {
    const values = {
      'conn.client_ip': '203.0.113.7',
      'conn.client_port': 50123n,
      'conn.server_ip': '192.0.2.1',
      'conn.server_port': 443n,
      'conn.bytes_in': 517n,
      'conn.bytes_out': 0n,
      'conn.ts.start': '2026-11-21T11:59:59.875Z',
      'conn.tls.sni': 'app.example.com',
      'conn.tls.version': '',
      'conn.tls.client.subject.organization': [],
      'endpoint.id': 'ep_2test',
      'endpoint.url': 'https://app.example.com',
      'endpoint.host': 'app.example.com',
      'endpoint.port': 443n,
      'endpoint.addr': 'app.example.com:443',
      'endpoint.protocol': 'https',
      'time.now': '2026-11-21T12:00:00.000Z',
      'conn.ClientIP': '203.0.113.7',
      'conn.TLS.SNI': 'app.example.com',
    };
    for (const [name, value] of Object.entries(values))
      expect([name, plainly(name, about, { phase })]).toEqual([name, value]);
  }
});

test('variables and results of actions are seen as soon as they are set', () => {
  const state = newState();
  const ask = (text: string) => plainly(text, bare, { state });
  expect(() => ask('vars.tier')).toThrow(/tier/);
  state.vars.set('tier', 'gold').set('list', ['a', 2n]);
  state.actions.set('rate_limit', { limited: true, error: { code: 'x' } });
  expect(ask('vars.tier')).toBe('gold');
  expect(ask('vars.list[1]')).toBe(2n);
  expect(ask('actions.rate_limit.limited')).toBe(true);
  expect(ask('actions.rate_limit.error.code')).toBe('x');
  expect(ask(`actions.${FOREIGN_NAMESPACE}.rate_limit.limited`)).toBe(true);
});

test('what nobody asks for is not computed', () => {
  const environment = {
    ...environmentOf(),
    time: (): number => {
      throw new Error('asked');
    },
  };
  const bindings = bindingsOf(rich, 'on_http_request', newState(), environment);
  expect(bindings['req.method']).toBe('POST');
  expect(() => bindings['time.now']).toThrow('asked');
});
