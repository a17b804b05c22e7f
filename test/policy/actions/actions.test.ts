// What actions do beyond a single visit, and how they are put together.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { describe, expect, test } from 'vitest';
import { ModuleResponse } from '../../../src/edge/pipeline/pipeline-response.ts';
import type { HttpModule, Verdict } from '../../../src/http/module.ts';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { action, onConnect, onRequest, onResponse } from '../documents/support.ts';
import { connectionOf, environmentOf, exchangeOf, type TestEnvironment } from '../exchange-support.ts';

const owner = { accountId: 'ac_2test', proto: 'https' } as const;
const httpOf = (policy: object, environment = environmentOf()) =>
  compilePolicyDocument(policy, owner, environment).http as Required<HttpModule>;
const fieldOf = (verdict: Verdict, name: string) =>
  verdict && 'fields' in verdict ? verdict.fields?.find(([other]) => other === name)?.[1] : undefined;

describe('rate-limit', () => {
  const limit = (settings: object = {}) =>
    action('rate-limit', {
      name: 'per visitor',
      algorithm: 'sliding_window',
      capacity: 2,
      rate: '60s',
      bucket_key: ['conn.client_ip'],
      ...settings,
    });
  const ask = async (http: HttpModule, ip: string) => http.onRequest?.(exchangeOf({ visitor: { ip } }));

  test('turns away who comes too often, says when to come again, and lets them in then', async () => {
    const environment = environmentOf();
    const http = httpOf(onRequest([limit()]), environment);
    expect(await ask(http, '192.0.2.1')).toBeUndefined();
    expect(await ask(http, '192.0.2.1')).toBeUndefined();
    const refused = await ask(http, '192.0.2.1');
    expect(refused).toMatchObject({ kind: 'refuse', error: 'rateLimited' });
    const seconds = Number(fieldOf(refused, 'Retry-After'));
    expect(seconds).toBeGreaterThan(50);
    expect(await ask(http, '192.0.2.2')).toBeUndefined();
    environment.pass(seconds * 1000);
    expect(await ask(http, '192.0.2.1')).toBeUndefined();
  });

  test('keeps keys apart that are written alike', async () => {
    const http = httpOf(onRequest([limit({ capacity: 1, bucket_key: ["getReqHeader('a')", "getReqHeader('b')"] })]));
    const ask = (fields: Record<string, string>) => http.onRequest(exchangeOf({ fields }));
    expect(await ask({ a: '1', b: '' })).toBeUndefined();
    expect(await ask({ a: '', b: '1' })).toBeUndefined();
    expect(await ask({ a: '1' })).toBeUndefined();
    expect(await ask({ a: '1' })).toMatchObject({ error: 'rateLimited' });
  });
});

describe('circuit-breaker', () => {
  const breaker = action('circuit-breaker', { volume_threshold: 2, error_threshold: 0.5, tripped_duration: '30s' });
  const fail = (http: Required<HttpModule>) => {
    const exchange = exchangeOf();
    expect(http.onRequest(exchange)).toBeUndefined();
    http.onOutcome(exchange, 500);
  };
  const open = (environment: TestEnvironment, ...more: object[]) => {
    const http = httpOf(onRequest([breaker, ...more]), environment);
    fail(http);
    fail(http);
    return http;
  };

  test('leaves an upstream alone that fails, and tries one request later', () => {
    const environment = environmentOf();
    const http = open(environment);
    const refused = http.onRequest(exchangeOf());
    expect(refused).toMatchObject({ kind: 'refuse', error: 'circuitOpen', fields: [['Retry-After', '30']] });
    environment.pass(30_000);
    const trial = exchangeOf();
    expect(http.onRequest(trial)).toBeUndefined();
    expect(http.onRequest(exchangeOf())).toMatchObject({ error: 'circuitOpen' });
    http.onOutcome(trial, 200);
    expect(http.onRequest(exchangeOf())).toBeUndefined();
  });

  test('hears that its trial went nowhere when a later action turns the visitor away', () => {
    const environment = environmentOf();
    const policy = {
      on_http_request: [{ actions: [breaker] }, { expressions: ["req.method == 'PUT'"], actions: [action('deny')] }],
    };
    const http = httpOf(policy, environment);
    fail(http);
    fail(http);
    environment.pass(30_000);
    expect(http.onRequest(exchangeOf({ method: 'PUT' }))).toMatchObject({ kind: 'answer', status: 403 });
    expect(http.onRequest(exchangeOf())).toBeUndefined();
    expect(http.onRequest(exchangeOf())).toMatchObject({ error: 'circuitOpen' });
  });

  test('lets all pass where nothing is enforced', () => {
    const policy = onRequest([action('circuit-breaker', { volume_threshold: 1, enforce: false })]);
    const http = httpOf(policy);
    fail(http);
    expect(http.onRequest(exchangeOf())).toBeUndefined();
  });
});

test('log notes values as JSON has them, with the visit', () => {
  const environment = environmentOf();
  const metadata = { n: '${1 + 1}', text: 'a${2}', when: "${timestamp('2026-01-01T00:00:00Z')}", list: [1, 'b'] };
  httpOf(onRequest([action('log', { metadata })]), environment).onRequest(exchangeOf());
  expect(environment.notes).toEqual([{ n: 2, text: 'a2', when: '2026-01-01T00:00:00Z', list: [1, 'b'] }]);
});

test('compress-response chooses an encoding that the visitor takes', () => {
  const http = httpOf(onResponse([action('compress-response', { algorithms: ['gzip', 'br'] })]));
  const answerFields = { 'content-type': 'text/plain' };
  const exchange = exchangeOf({ fields: { 'accept-encoding': 'br, gzip;q=0.5' }, status: 200, answerFields });
  expect(http.onResponse(exchange)).toBeUndefined();
  expect(exchange.response?.encoding).toBe('br');
});

describe('forward-internal', () => {
  const endpointOf = (proto: 'https' | 'tls') => ({ publicUrl: `${proto}://a.internal`, proto }) as LiveEndpoint;
  const [web, raw] = [endpointOf('https'), endpointOf('tls')];
  const asked: string[] = [];
  const environment = environmentOf((accountId, url) => {
    asked.push(`${accountId} ${url}`);
    return [web, raw].find(({ publicUrl }) => publicUrl === url);
  });
  const byPath = (proto: string) =>
    action('forward-internal', { url: `${proto}://\${req.url.path.substring(1)}.internal` });

  test('sends a request to the endpoint of the account that the URL names', async () => {
    const http = httpOf(onRequest([byPath('https')]), environment);
    expect(await http.onRequest(exchangeOf({ target: '/a' }))).toEqual({ kind: 'forward', endpoint: web });
    expect(asked).toEqual(['ac_2test https://a.internal']);
    expect(await http.onRequest(exchangeOf({ target: '/b' }))).toMatchObject({ error: 'internalOffline' });
  });

  test('sends no request where connections are taken', async () => {
    // Computed, as it would be refused if it were written.
    const http = httpOf(onRequest([byPath("${'tls'}")]), environment);
    expect(await http.onRequest(exchangeOf({ target: '/a' }))).toMatchObject({ error: 'internalOffline' });
  });

  test('sends a connection on, or closes it', async () => {
    const to = (url: string) =>
      compilePolicyDocument(onConnect([action('forward-internal', { url })]), { ...owner, proto: 'tls' }, environment)
        .connection;
    expect(await to('tls://a.internal')?.onConnection(connectionOf())).toEqual({ kind: 'forward', endpoint: raw });
    expect(await to('tls://b.internal')?.onConnection(connectionOf())).toMatchObject({ kind: 'close' });
    expect(() => to('https://a.internal')).toThrow('as "tcp://devices.internal:5432"');
  });
});

describe('rules', () => {
  test('go on where they were once an action has waited', async () => {
    const credentials = ['ann:password'];
    const rules = [
      { actions: [action('verify-webhook', { provider: 'github', secret: 's', enforce: false })] },
      { expressions: ["req.method == 'PUT'"], actions: [action('deny')] },
      {
        actions: [
          action('basic-auth', { credentials, enforce: false }),
          action('add-headers', { headers: { a: '${actions.verify_webhook.verified}' } }),
        ],
      },
    ];
    const http = httpOf({ on_http_request: rules });
    const exchange = exchangeOf();
    const verdict = http.onRequest(exchange);
    expect(verdict).toBeInstanceOf(Promise);
    expect(await verdict).toBeUndefined();
    expect(exchange.request.fields.get('a')).toBe('false');
    expect(await http.onRequest(exchangeOf({ method: 'PUT' }))).toMatchObject({ status: 403 });
  });

  test('do not wait unless an action does', () => {
    expect(httpOf(onRequest([action('deny')])).onRequest(exchangeOf())).not.toBeInstanceOf(Promise);
  });

  test.each([
    ['an action', [action('deny')], [], /^rule "no" \(on_http_request\[1\]\), action deny: denied$/],
    [
      'a list of addresses',
      [action('restrict-ips', { deny: ['203.0.113.0/24'] })],
      [],
      /action restrict-ips: 203\.0\.113\.7 is in 203\.0\.113\.0\/24$/,
    ],
    [
      'an expression',
      [action('deny')],
      ['true', "req.headers['x'][0] == 'y'"],
      /^rule "no" \(on_http_request\[1\]\), expression 2: /,
    ],
    ['a template', [action('custom-response', { body: "${req.headers['x'][0]}" })], [], /action custom-response: /],
    [
      'a host',
      [action('add-headers', { headers: { host: '${req.method} x' } })],
      [],
      /add-headers: the value of host is not the name of a host/,
    ],
    [
      'a network',
      [action('restrict-ips', { deny: ['${req.method}'] })],
      [],
      /restrict-ips: a computed network is not valid/,
    ],
  ])('say for the log which of them it was, and why: %s', async (_, actions, expressions, reason) => {
    const log = { actions: [action('log', { metadata: {} })] };
    const http = httpOf({ on_http_request: [log, { name: 'no', expressions, actions }] });
    expect(await http.onRequest(exchangeOf())).toMatchObject({ reason: expect.stringMatching(reason) });
  });

  test('close a connection that an expression cannot be asked about', async () => {
    const policy = onConnect([action('deny')], '[1][conn.client_port] == 1');
    const { connection } = compilePolicyDocument(policy, owner, environmentOf());
    expect(await connection?.onConnection(connectionOf())).toMatchObject({
      kind: 'close',
      reason: expect.stringMatching(/expression 1/),
    });
  });

  test.each(['add-headers', 'custom-response', 'redirect'])(
    '%s never lets a value begin a line of its own',
    async (type) => {
      // Cut to a byte each, U+010D and U+010A are the end of a line.
      const headers = { 'x-a': "${'a\u010d\u010ab'}", 'x-b': "${'a\\r\\nb'}", 'x-c': 'c\u010d\u010a' };
      const exchange = exchangeOf();
      const http = httpOf(onRequest([action(type, { headers, ...(type === 'redirect' && { to: '/x' }) })]));
      const verdict = await http.onRequest(exchange);
      const fields =
        verdict?.kind === 'answer' ? new ModuleResponse(verdict).fields.list : exchange.request.fields.list;
      const sent = fields.filter(([name]) => name.startsWith('x-')).map(([, value]) => Buffer.from(value, 'latin1'));
      expect(sent.map(String)).toEqual(['a\u010d\u010ab', 'ab', 'c\u010d\u010a']);
    },
  );

  test('add nothing when one of several fields cannot be computed', async () => {
    const headers = { 'x-a': '1', 'x-b': "${req.headers['x'][0]}" };
    const exchange = exchangeOf();
    expect(await httpOf(onRequest([action('add-headers', { headers })])).onRequest(exchange)).toMatchObject({
      error: 'policyFailed',
    });
    expect(exchange.request.fields.isChanged).toBe(false);
  });
});
