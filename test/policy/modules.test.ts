import { beforeAll, describe, expect, test } from 'vitest';
import { createModules, loadModules } from '../../src/edge/http-modules.ts';
import { circuitBreakerDefaults } from '../../src/edge/modules/circuit-breaker.ts';
import type { ModuleSettings, ModulesSettings } from '../../src/edge/modules/descriptor.ts';
import { requestHeaders, responseHeaders } from '../../src/edge/modules/headers.ts';
import { moduleDescriptors } from '../../src/edge/modules/index.ts';
import { EVERYBODY, ipRestriction } from '../../src/edge/modules/ip-restriction.ts';
import { SettingsError } from '../../src/edge/modules/settings-error.ts';
import { userAgentFilter } from '../../src/edge/modules/user-agent-filter.ts';
import { ModuleChain } from '../../src/edge/pipeline/rules/module-chain.ts';
import type { ModuleEnvironment, ModuleOwner } from '../../src/http/module.ts';
import { connectionOf, environmentOf, exchangeOf } from './exchange-support.ts';

describe('IP restriction', () => {
  const judge = (settings: { allow: readonly string[]; deny: readonly string[] }, ip: string) =>
    ipRestriction({ allow: [...settings.allow], deny: [...settings.deny] }).onRequest?.(
      exchangeOf({ visitor: { ip } }),
    );

  test.each([
    [['10.0.0.0/8'], [], '10.1.2.3', undefined],
    [['10.0.0.0/8'], [], '::ffff:10.1.2.3', undefined],
    [['10.0.0.0/8'], [], '11.1.2.3', '11.1.2.3 is in no network that is allowed'],
    [['10.0.0.0/8'], ['10.1.0.0/16'], '10.1.2.3', '10.1.2.3 is in 10.1.0.0/16, which is denied'],
    [['10.1.2.3/32'], ['10.0.0.0/8'], '10.1.2.3', '10.1.2.3 is in 10.0.0.0/8, which is denied'],
    [[], [], '10.1.2.3', '10.1.2.3 is in no network that is allowed'],
    [EVERYBODY, ['10.0.0.0/8'], '11.1.2.3', undefined],
    [EVERYBODY, ['10.0.0.0/8'], '2001:db8::1', undefined],
    [EVERYBODY, [], '', ' is in no network that is allowed'],
    [['::/0'], [], '10.1.2.3', '10.1.2.3 is in no network that is allowed'],
  ])('with %j allowed and %j denied, %s is told: %s', (allow, deny, ip, reason) => {
    const verdict = judge({ allow, deny }, ip);
    expect(verdict).toEqual(reason === undefined ? undefined : { kind: 'refuse', error: 'addressRefused', reason });
  });

  test('a connection is closed without a word', () => {
    const module = ipRestriction({ allow: ['10.0.0.0/8'], deny: [] });
    const connection = (ip: string) => module.onConnection(connectionOf({ visitor: { ip } }));
    expect(connection('10.1.2.3')).toBeUndefined();
    expect(connection('203.0.113.7')).toMatchObject({ kind: 'close' });
  });

  test('what the visitor says of itself is not believed', () => {
    const module = ipRestriction({ allow: ['10.0.0.0/8'], deny: [] });
    expect(module.onRequest?.(exchangeOf({ fields: { 'X-Forwarded-For': '10.1.2.3' } }))).toBeDefined();
  });

  test('a network that is none is found when the module is made', () => {
    expect(() => ipRestriction({ allow: [], deny: ['10.0.0.0/99'] })).toThrow(SettingsError);
  });
});

describe('headers', () => {
  const settings = { enabled: true, add: { 'x-a': '1', 'X-B': 'two words' }, remove: ['x-b', 'Cookie'] };

  test('first some are removed, then others are added, to what is there', () => {
    const fields = [['X-A', '0'] as const, ['x-B', 'old'] as const, ['cookie', 'c'] as const];
    const exchange = exchangeOf({ fields });
    requestHeaders(settings).onRequest?.(exchange);
    expect(exchange.request.fields.list).toEqual([
      ['X-A', '0'],
      ['x-a', '1'],
      ['X-B', 'two words'],
    ]);
  });

  test('those of answers are changed behind upstream, and requests are left alone', () => {
    const exchange = exchangeOf({ status: 200, answerFields: { Server: 'x', 'x-b': 'old' } });
    const module = responseHeaders({ ...settings, remove: ['server', 'x-b'] });
    expect(module.onRequest).toBeUndefined();
    module.onResponse?.(exchange);
    expect(exchange.response?.fields.list).toEqual(Object.entries(settings.add));
  });

  test('Host takes the place of the one that was sent', () => {
    const exchange = exchangeOf();
    requestHeaders({ enabled: true, add: { Host: 'inner.example' }, remove: [] }).onRequest?.(exchange);
    expect([exchange.request.host, exchange.request.fields.list]).toEqual(['inner.example', []]);
  });

  test.each(['', 'x a', 'x:a', 'ü', 'Connection', 'transfer-encoding', 'Content-Length'])('no field: %j', (name) => {
    expect(() => requestHeaders({ enabled: true, add: {}, remove: [name] })).toThrow(SettingsError);
    expect(() => responseHeaders({ enabled: true, add: { [name]: '' }, remove: [] })).toThrow(SettingsError);
  });

  test.each(['a\r\nb: c', 'a\0', 'a\x7f'])('no value: %j', (value) => {
    expect(() => responseHeaders({ enabled: true, add: { 'x-a': value }, remove: [] })).toThrow(SettingsError);
  });

  test.each(['', 'a', 'a b', 'a\tb', 'é', ' a ', '\u{1f600}'])('a value: %j', (value) => {
    const exchange = exchangeOf({ status: 200 });
    responseHeaders({ enabled: true, add: { 'x-a': value }, remove: [] }).onResponse?.(exchange);
    const sent = Buffer.from(exchange.response?.fields.get('x-a') ?? 'missing', 'latin1');
    expect(sent.toString()).toBe(value.trim());
  });
});

describe('user agents', () => {
  test.each([
    [[], [], 'curl/8', true],
    [[], [], undefined, false],
    [['^$'], [], undefined, true],
    [[], ['(?i)bot'], 'GoogleBot', false],
    [[], ['(?i)bot'], 'curl/8', true],
    [['(?i)bot-images'], ['(?i)bot'], 'GoogleBot-Images', true],
    [['(?i)bot-images'], ['(?i)bot'], 'curl/8', true],
    [['^curl/'], [], 'curl/8', true],
    [['^curl/'], [], 'wget', false],
  ] as const)('with %j allowed and %j denied, %s is let in: %s', (allow, deny, agent, isLetIn) => {
    const module = userAgentFilter({ allow: [...allow], deny: [...deny] });
    const verdict = module.onRequest?.(exchangeOf({ fields: agent === undefined ? {} : { 'User-Agent': agent } }));
    if (isLetIn) expect(verdict).toBeUndefined();
    else expect(verdict).toMatchObject({ kind: 'refuse', error: 'userAgentRefused' });
  });

  test('a pattern that is none is found when the module is made', () => {
    expect(() => userAgentFilter({ allow: ['(?=x)'], deny: [] })).toThrow('allow: "(?=x)"');
  });
});

const ALL = {
  ipRestriction: { enabled: true, allow: [...EVERYBODY], deny: [] },
  userAgentFilter: { enabled: true, allow: ['.*'], deny: [] },
  basicAuth: { enabled: true, realm: 'r', credentials: [{ username: 'u', password: 'password' }] },
  webhookVerification: { enabled: true, provider: 'github', secret: 's' },
  trafficPolicy: {
    enabled: true,
    value: JSON.stringify({
      on_tcp_connect: [{ actions: [{ type: 'log', config: { metadata: { a: 'b' } } }] }],
      on_http_response: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-policy': '1' } } }] }],
    }),
  },
  compression: { enabled: true },
  requestHeaders: { enabled: true, add: { 'x-in': '1' }, remove: [] },
  responseHeaders: { enabled: true, add: { 'x-out': '1' }, remove: [] },
  circuitBreaker: circuitBreakerDefaults,
  websocketTcpConverter: { enabled: true },
  upstream: { enabled: true, timeout: 90, hostHeader: 'rewrite', allowHalfClose: true },
};
beforeAll(() => loadModules(moduleDescriptors, ALL));

const OWNER = { accountId: 'ac_2test', proto: 'https' } as const;

const httpModules = (settings: ModulesSettings, owner: ModuleOwner, environment: ModuleEnvironment) =>
  createModules(moduleDescriptors, settings, owner, environment);
const connectionModules = (...made: Parameters<typeof httpModules>) => httpModules(...made).connection;

describe('from settings to modules', () => {
  test('they act in this order, the outermost first', () => {
    const { modules, connection, breaker } = httpModules(ALL, OWNER, environmentOf());
    expect(modules.map(({ name }) => name)).toEqual([
      'compression',
      'ip_restriction',
      'user_agent_filter',
      'basic_auth',
      'webhook_verification',
      'traffic_policy',
      'response_headers',
      'request_headers',
      'circuit_breaker',
      'upstream',
    ]);
    expect(connection.map(({ name }) => name)).toEqual(['traffic_policy']);
    expect(breaker?.snapshot().state).toBe('closed');
  });

  test('what is disabled, or not set, is not there', () => {
    const off = Object.fromEntries(Object.entries(ALL).map(([name, module]) => [name, { ...module, enabled: false }]));
    const nothing = { modules: [], connection: [], breaker: undefined, convertsWebsockets: false, tls: undefined };
    expect(httpModules(off, OWNER, environmentOf())).toEqual(nothing);
    expect(httpModules({}, OWNER, environmentOf())).toEqual(nothing);
    expect(connectionModules(off, { ...OWNER, proto: 'tls' }, environmentOf())).toEqual([]);
  });

  test('connections pass the restriction before the policy', () => {
    const trafficPolicy = { enabled: true, value: '{"inbound":[{"actions":[{"type":"deny"}]}]}' };
    const settings = { ipRestriction: ALL.ipRestriction, trafficPolicy };
    const modules = connectionModules(settings, { ...OWNER, proto: 'tcp' }, environmentOf());
    expect(modules.map(({ name }) => name)).toEqual(['ip_restriction', 'traffic_policy']);
  });

  test('a request that is turned away does not count for the breaker, and its answer is not touched', () => {
    const settings = { ...ALL, ipRestriction: { enabled: true, allow: [], deny: [] } };
    const { modules, breaker } = httpModules(settings, OWNER, environmentOf());
    const [chain, exchange, passage] = [new ModuleChain(modules), exchangeOf(), { passed: 0 }];
    expect(chain.request(exchange, passage)).toMatchObject({ module: { name: 'ip_restriction' } });
    chain.settle(exchange, passage, 'unasked');
    expect(breaker?.snapshot().requests).toBe(0);
  });

  test('a setting that is wrong is found when the modules are made', () => {
    const make = (settings: Record<string, ModuleSettings & Record<string, unknown>>) => () =>
      httpModules(settings, OWNER, environmentOf());
    expect(make({ userAgentFilter: { enabled: true, allow: [], deny: ['('] } })).toThrow(SettingsError);
    expect(make({ trafficPolicy: { enabled: true, value: '{"inbound":[{}]}' } })).toThrow();
  });
});
