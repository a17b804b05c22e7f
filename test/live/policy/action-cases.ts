// Every action with two settings each, and what visitors are to see of them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { action, onRequest, onResponse } from '../../policy/documents/support.ts';
import type { VisitOptions } from '../../support/visit.ts';
import {
  type ActionCase,
  answered,
  answersWhoHasEnded,
  asks,
  passed,
  type Shows,
  sends,
  statuses,
  varied,
} from './action-case.ts';
import { bodyCases } from './body-cases.ts';
import { signInCases } from './sign-in-cases.ts';

/** What the cases need that is somewhere else. */
export interface Surroundings {
  /** The URL of a token issuer's keys, its name, and a token of it for the audience `api`. */
  issuer: { jwks: string; url: string; token: string };
  /** The URL of a server that knows the visitors who may come in: `/ann` is answered with 200, others with 404. */
  guests: string;
}

const bearing = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const basic = (pair: string) => ({ headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } });
const error = (number: number) => ({ 'gateway-error-code': `ERR_GATEWAY_${number}` });
const add = (value: string) => action('add-headers', { headers: { 'x-added': value } });

const answering: ActionCase[] = [
  varied(
    'deny',
    (config: object) => onRequest([action('deny', { ...config })]),
    [{}, answered({ status: 403, body: '' })],
    [{ status_code: 404 }, answered({ status: 404, body: '' })],
  ),
  varied(
    'custom-response',
    (config: object) => onRequest([action('custom-response', { ...config })]),
    [{ body: 'one' }, answered({ status: 200, body: 'one' })],
    [
      { status_code: 418, body: 'two of ${req.method}', headers: { 'x-own': 'yes' } },
      answered({ status: 418, body: 'two of GET', headers: { 'x-own': 'yes' } }),
    ],
  ),
  varied(
    'redirect',
    (config: object) => onRequest([action('redirect', { ...config })]),
    [
      { to: 'https://other.example.com/' },
      answered({ status: 302, headers: { location: 'https://other.example.com/' } }),
    ],
    [
      { from: '/redirect$', to: '/new', status_code: 308 },
      answered({ status: 308, headers: { location: expect.stringMatching(/^https:\/\/[^/]+\/new$/) } }),
    ],
  ),
  varied(
    'close-connection',
    (path: string) => onRequest([action('close-connection')], `req.url.path == '${path}'`),
    ['/close-connection', statuses([{}, undefined])],
    ['/close-connection/now', statuses([{}, 200], [{ path: '/close-connection/now' }, undefined])],
  ),
  varied(
    'allow-half-close',
    (path: string) => onRequest([action('allow-half-close')], `req.url.path == '${path}'`),
    ['/allow-half-close', answersWhoHasEnded('/allow-half-close')],
    ['/allow-half-close/now', answersWhoHasEnded('/allow-half-close/now')],
  ),
];

/** A service that does not answer is given up, and the visitor is told by which limit. */
const timesOut =
  (limit: string): Shows =>
  async ({ go }) => {
    const options = { path: '/upstream-timeout/never' };
    expect(await go(options)).toMatchObject({ status: 504, body: expect.stringContaining(limit) });
  };

const both = { headers: { 'x-one': '1', 'x-two': '2' } };

const changing: ActionCase[] = [
  varied(
    'url-rewrite',
    (to: string) => onRequest([action('url-rewrite', { from: '/url-(.*)$', to })]),
    ['/one/$1', asks({ target: '/one/rewrite' })],
    ['/two?was=$1', asks({ target: '/two?was=rewrite' })],
  ),
  varied(
    'upstream-timeout',
    (timeout: string) => onRequest([action('upstream-timeout', { timeout })]),
    ['1s', timesOut('The limit is 1 s, set by its traffic policy.')],
    ['1001ms', timesOut('The limit is 1.001 s, set by its traffic policy.')],
  ),
  varied(
    'host-header',
    (host: string) => onRequest([action('host-header', { host })]),
    ['localhost:3000', sends({ host: 'localhost:3000' })],
    ['https://printer.lan', sends({ host: 'printer.lan' })],
  ),
  varied(
    'add-headers',
    (value: string) => onRequest([add(value)]),
    ['1', sends({ 'x-added': '1' })],
    ['from ${conn.client_ip}', sends({ 'x-added': 'from 127.0.0.1' })],
  ),
  varied(
    'set-headers',
    (value: string) => onRequest([action('set-headers', { headers: { 'x-one': value } })]),
    ['3', sends({ 'x-one': '3', 'x-two': '2' }, both)],
    ['from ${conn.client_ip}', sends({ 'x-one': 'from 127.0.0.1', 'x-two': '2' }, both)],
  ),
  varied(
    'remove-headers',
    (name: string) => onRequest([action('remove-headers', { headers: [name] })]),
    ['x-one', sends({ 'x-two': '2' }, both, 'x-one')],
    ['x-two', sends({ 'x-one': '1' }, both, 'x-two')],
  ),
  varied(
    'set-vars',
    (a: unknown) => onRequest([action('set-vars', { vars: [{ a }] }), add('${vars.a + 1}')]),
    [1, sends({ 'x-added': '2' })],
    ['${req.method.size()}', sends({ 'x-added': '4' })],
  ),
  varied(
    'log',
    (word: string) => onRequest([action('log', { metadata: { word, path: '${req.url.path}' } })]),
    ['first', notes('first')],
    ['second', notes('second')],
  ),
  varied(
    'compress-response',
    (algorithm: string) => onResponse([action('compress-response', { algorithms: [algorithm] })]),
    ['gzip', encodes('gzip')],
    ['br', encodes('br')],
  ),
];

function notes(word: string): Shows {
  return async ({ go, gateway }) => {
    expect(await go()).toMatchObject(passed);
    const line = await gateway.logged(({ metadata }) => (metadata as { word?: string } | undefined)?.word === word);
    expect(line).toMatchObject({
      metadata: { path: '/log' },
      ip: '127.0.0.1',
      endpointId: expect.stringMatching(/^ep_/),
    });
  };
}

/** What comes out of it is looked at in `policy-responses.test.ts`. */
function encodes(coding: string): Shows {
  return async ({ go, upstream }) => {
    upstream.origin = { headers: { 'content-type': 'text/plain' }, body: 'a'.repeat(5000) };
    const seen = await go({ headers: { 'accept-encoding': 'gzip, br' } });
    expect(seen).toMatchObject({ status: 200, headers: { 'content-encoding': coding } });
    expect(seen?.body.length).toBeLessThan(500);
  };
}

const limit = (capacity: number) =>
  onRequest([
    action('rate-limit', {
      name: 'by key',
      algorithm: 'sliding_window',
      capacity,
      rate: '60s',
      bucket_key: ["getReqHeader('x-key')"],
    }),
  ]);
const keyed = (key: string) => ({ headers: { 'x-key': key } });

const github = (secret: string): VisitOptions => ({
  method: 'POST',
  body: '{"zen":"Keep it simple."}',
  headers: {
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update('{"zen":"Keep it simple."}').digest('hex')}`,
  },
});

const guarding: ActionCase[] = [
  varied(
    'restrict-ips',
    (config: object) => onRequest([action('restrict-ips', { ...config })]),
    [{ deny: ['127.0.0.0/8'] }, answered({ status: 403, headers: error(3205) })],
    [{ allow: ['127.0.0.1'], deny: ['10.0.0.0/8'] }, sends({})],
  ),
  varied('rate-limit', limit, [1, limits(1)], [2, limits(2)]),
  varied(
    'circuit-breaker',
    (enforce: boolean) =>
      onRequest([action('circuit-breaker', { volume_threshold: 1, error_threshold: 0.5, enforce })]),
    [true, fails([500, 503])],
    [false, fails([500, 500])],
  ),
  varied(
    'basic-auth',
    (pair: string) => onRequest([action('basic-auth', { credentials: [pair], realm: 'Lamps' })]),
    ['ann:a long password', statuses([{}, 401], [basic('ann:a long password'), 200], [basic('ann:another one'), 401])],
    ['ann:another one', statuses([{}, 401], [basic('ann:a long password'), 401], [basic('ann:another one'), 200])],
  ),
  varied(
    'verify-webhook',
    (secret: string) => onRequest([action('verify-webhook', { provider: 'github', secret })]),
    ['one secret', statuses([github('one secret'), 200], [github('another'), 403], [{ method: 'POST' }, 403])],
    ['another', statuses([github('one secret'), 403], [github('another'), 200])],
  ),
  varied(
    'forward-internal',
    (name: string) => onRequest([action('forward-internal', { url: `https://${name}.internal` })]),
    ['one', answered({ status: 200, body: 'this is one' })],
    ['two', answered({ status: 200, body: 'this is two' })],
  ),
];

function limits(capacity: number): Shows {
  return async ({ go }) => {
    for (let i = 0; i < capacity; i++) expect(await go(keyed('a'))).toMatchObject(passed);
    const refused = await go(keyed('a'));
    expect(refused).toMatchObject({ status: 429, headers: error(3214) });
    const wait = Number(refused?.headers['retry-after']);
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(70); // The window, and the piece of ten seconds in which the last one is counted.
    expect(await go(keyed('b'))).toMatchObject(passed);
  };
}

function fails(expected: number[]): Shows {
  return async (stage) => {
    stage.upstream.origin = { status: 500 };
    await statuses(...expected.map((status): [VisitOptions, number] => [{}, status]))(stage);
    expect(stage.upstream.asked.length).toBe(expected.filter((status) => status === 500).length);
  };
}

/** All that a policy of a route may do; `terminate-tls` is for connections. */
export function actionCases({ issuer, guests }: Surroundings): ActionCase[] {
  const asking = (url: string) => ({
    on_http_request: [
      { actions: [action('http-request', { url })] },
      { expressions: ['actions.http_request.res.status_code != 200'], actions: [action('deny')] },
      { actions: [add('${actions.http_request.res.body}')] },
    ],
  });
  const http = varied(
    'http-request',
    asking,
    [`${guests}/ann`, sends({ 'x-added': 'welcome /ann' })],
    [`${guests}/bob`, answered({ status: 403 })],
  );
  const tokens = (audience: string) =>
    onRequest([
      action('jwt-validation', {
        issuer: { allow_list: [{ value: issuer.url }] },
        audience: { allow_list: [{ value: audience }] },
        http: { tokens: [{ type: 'jwt', method: 'header', name: 'authorization', prefix: 'Bearer ' }] },
        jws: { allowed_algorithms: ['ES256'], keys: { sources: { additional_jkus: [issuer.jwks] } } },
      }),
    ]);
  const jwt = varied(
    'jwt-validation',
    tokens,
    ['api', statuses([{}, 401], [bearing(issuer.token), 200], [bearing(`${issuer.token}x`), 401])],
    ['others', statuses([{}, 401], [bearing(issuer.token), 401])],
  );
  return [...answering, ...changing, ...guarding, ...bodyCases, ...signInCases(issuer.url), http, jwt];
}
