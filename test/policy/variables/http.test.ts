// What expressions can say of a request and its answer.

import { describe, expect, test } from 'vitest';
import { readUserAgent } from '../../../src/policy/cel/variables/user-agent.ts';
import { type ExchangeShape, exchangeOf } from '../exchange-support.ts';
import { evaluate, plainly } from './support.ts';

const ask = (expression: string, shape: ExchangeShape = {}) =>
  plainly(
    expression,
    { exchange: exchangeOf(shape) },
    { phase: shape.status ? 'on_http_response' : 'on_http_request' },
  );

const POST: ExchangeShape = {
  method: 'POST',
  target: '/a/%7Euser?q=x+y&q=%C3%BC&flag',
  host: 'App.Example.com:8443',
  version: 'HTTP/2.0',
  fields: [
    ['Accept', 'text/html'],
    ['X-Api-Version', '2'],
    ['x-api-version', '3'],
    ['Cookie', 'session=abc; theme="dark"; session=def; ;broken'],
    ['Content-Type', 'Multipart/Form-Data; Boundary="a;\\"b"; charset=utf-8'],
    ['Content-Encoding', 'gzip, BR'],
    ['Location', '/there'],
  ],
  body: 'hello',
};

const SERVED: ExchangeShape = {
  status: 201,
  answerLength: 17,
  answerFields: [
    ['Content-Type', 'application/json;charset=utf-8'],
    ['Location', '/new'],
    ['Set-Cookie', 'id=1; Path=/; Secure; HttpOnly; Priority=High; constructor=x'],
    ['Set-Cookie', 'id=2; Path=/deep; Domain=example.com; SameSite=Lax; Max-Age=60'],
    ['Set-Cookie', 'old=; Expires=Thu, 01 Jan 1970 00:00:10 GMT'],
  ],
};

describe('each name has its value', () => {
  const table: [expression: string, expected: unknown, shape?: ExchangeShape][] = [
    ['req.method', 'POST'],
    ['req.host', 'App.Example.com:8443'],
    ['req.version', 'HTTP/2.0'],
    ['req.content_length', 5n],
    ['req.content_length', -1n, { ...POST, isChunked: true }],
    ['req.content_encoding', ['gzip', 'br']],
    ['req.content_type', 'multipart/form-data'],
    ['req.content_type.parameters', { boundary: 'a;"b', charset: 'utf-8' }],
    ['req.content_type.parameters.constructor', 'x', { fields: { 'content-type': 'a/b; constructor=x' } }],
    ['req.content_type.raw', 'Multipart/Form-Data; Boundary="a;\\"b"; charset=utf-8'],
    ['req.location', '/there'],
    ['req.ts.header_received', '2026-11-21T12:00:00.000Z'],
    ['req.url', 'https://app.example.com:8443/a/~user?q=x+y&q=%C3%BC&flag'],
    ['req.url.raw', 'https://App.Example.com:8443/a/%7Euser?q=x+y&q=%C3%BC&flag'],
    ['req.url.scheme', 'https'],
    ['req.url.authority', 'app.example.com:8443'],
    ['req.url.host', 'app.example.com'],
    ['req.url.port', 8443n],
    ['req.url.path', '/a/~user'],
    ['req.url.raw_path', '/a/%7Euser'],
    ['req.url.query', 'q=x+y&q=%C3%BC&flag'],
    ['req.url.uri', '/a/~user?q=x+y&q=%C3%BC&flag'],
    ['req.url.query_params', { q: ['x y', 'ü'], flag: [''] }],
    ['req.url.port', 443n, {}],
    ['req.url.port', 80n, { scheme: 'http' }],
    ['req.url', 'http://[::1]:8080/', { scheme: 'http', host: '[::1]:8080' }],
    ['req.url.host', '::1', { scheme: 'http', host: '[::1]:8080' }],
    ['req.url', 'https://app.example.com', { method: 'OPTIONS', target: '*' }],
    [
      'req.cookies.session',
      [
        { name: 'session', value: 'abc' },
        { name: 'session', value: 'def' },
      ],
    ],
    ['req.cookies.theme[0].value', 'dark'],
    ['req.cookies', {}, {}],
    // As policies of 2024 call them.
    ['req.Method', 'POST'],
    ['req.URL', 'https://app.example.com:8443/a/~user?q=x+y&q=%C3%BC&flag'],
    ['req.Path', '/a/~user'],
    ['req.Params["q"][0]', 'x y'],
    ['req.Protocol', 'HTTP/2.0'],
    ['req.Host', 'App.Example.com:8443'],
    ['req.Location', '/there'],
    ['req.Headers["X-Api-Version"]', ['2', '3']],
    ['req.Cookies[1]', { Name: 'theme', Value: 'dark' }],
    ['req.ContentLength', 5n],
    ['req.ClientTLS.Version', ''],
  ];

  test.each(table)('%s is %o', (expression, expected, shape = POST) => {
    expect(ask(expression, shape)).toEqual(expected);
  });

  const answers: [expression: string, expected: unknown][] = [
    ['res.status_code', 201n],
    ['res.content_length', 17n],
    ['res.content_type', 'application/json'],
    ['res.content_type.parameters.charset', 'utf-8'],
    ['res.location', '/new'],
    ['res.cookies.id.map(c, c.value)', ['2', '1']],
    ['res.cookies.id[0].domain', 'example.com'],
    ['res.cookies.id[0].max_age', 60],
    ['res.cookies.id[0].same_site', 'Lax'],
    ['res.cookies.id[1].secure && res.cookies.id[1].http_only', true],
    ['res.cookies.id[1].unparsed_attributes', { Priority: 'High', constructor: 'x' }],
    ['res.cookies.old[0].expires < timestamp(time.now)', true],
    ['res.headers["SET-COOKIE"].size()', 3n],
    ['res.StatusCode', '201'],
    ['res.Headers.exists(k, k == "Set-Cookie")', true],
    ['res.Cookies.exists(c, c.Name == "old")', true],
    ['res.Location', '/new'],
    ['res.ContentLength', 17n],
    ['req.method', 'GET'],
  ];

  test.each(answers)('%s is %o', (expression, expected) => {
    expect(ask(expression, SERVED)).toEqual(expected);
  });
});

test.each([
  ['/%61dmin', '/admin'],
  ['/x/../admin', '/admin'],
  ['/x/%2e%2E/admin', '/admin'],
  ['/./admin/.', '/admin/'],
  ['/../../admin', '/admin'],
  ['/a/b/..', '/a/'],
  ['/a%2fb', '/a%2Fb'],
  ['/a%20b', '/a%20b'],
  ['/.well-known/x', '/.well-known/x'],
  ['/a/..b/...', '/a/..b/...'],
  ['//admin', '//admin'],
  ['/100%', '/100%'],
])('the path of %s is %s, so that no other spelling gets round a rule', (target, path) => {
  expect(ask('req.url.path', { target })).toBe(path);
});

describe('header fields', () => {
  test.each(['x-api-version', 'X-Api-Version', 'X-API-VERSION'])('are found as %s', (name) => {
    expect(ask(`req.headers['${name}']`, POST)).toEqual(['2', '3']);
    expect(ask(`'${name}' in req.headers`, POST)).toBe(true);
    expect(ask(`'${name}' in req.Headers`, POST)).toBe(true);
  });

  test('are iterated over in lower case, by policies of 2024 in canonical case', () => {
    const names = ['host', 'accept', 'x-api-version', 'cookie', 'content-type', 'content-encoding', 'location'];
    expect(ask('req.headers.map(k, k)', POST)).toEqual(names);
    expect(ask('size(req.headers)', POST)).toBe(7n);
    expect(ask('req.Headers.filter(k, k.startsWith("X-"))', POST)).toEqual(['X-Api-Version']);
  });

  test('that are not there are an error to ask for, and not in the map', () => {
    expect(() => ask("req.headers['x-none'][0] == ''", POST)).toThrow(/x-none/);
    expect(ask("'x-none' in req.headers", POST)).toBe(false);
    expect(ask('dyn(1) in req.headers', POST)).toBe(false);
  });

  test('are seen as they are now, like all that an action changes', () => {
    const exchange = exchangeOf({ fields: { 'x-a': '1', cookie: 'a=1' }, target: '/old' });
    const now = (expression: string) => plainly(expression, { exchange });
    expect(now('req.headers["x-a"]')).toEqual(['1']);
    exchange.request.fields.add('X-A', '2');
    exchange.request.fields.set('cookie', 'a=2');
    exchange.request.target = '/new?x=1';
    exchange.request.host = 'other.example.com';
    expect(now('req.headers["x-a"]')).toEqual(['1', '2']);
    expect(now('req.cookies.a[0].value')).toBe('2');
    expect(now('req.url')).toBe('https://other.example.com/new?x=1');
    expect(now('req.headers.host')).toEqual(['other.example.com']);
    exchange.request.fields.remove('x-a');
    expect(now('"x-a" in req.headers')).toBe(false);
  });
});

test.each<[string, unknown, ExchangeShape]>([
  ["getReqHeader(req.headers, 'X-API-version')", ['2', '3'], POST],
  ["getReqHeader(req.headers, 'x-none')", [], POST],
  ["hasReqHeader(req.headers, 'Accept')", true, POST],
  ["hasReqHeader(req.headers, 'x-none')", false, POST],
  ["getReqCookie(req.cookies, 'session')", { name: 'session', value: 'abc' }, POST],
  ["getReqCookie(req.cookies, 'none').value", '', POST],
  ["hasReqCookie(req.cookies, 'theme')", true, POST],
  ["hasReqCookie(req.cookies, 'Theme')", false, POST],
  ["getQueryParam(req.url.query_params, 'q')", ['x y', 'ü'], POST],
  ["getQueryParam(req.url.query_params, 'none')", [], POST],
  ["hasQueryParam(req.url.query_params, 'flag')", true, POST],
  ["getResHeader(res.headers, 'location')", ['/new'], SERVED],
  ["hasResHeader(res.headers, 'x-none')", false, SERVED],
  ["getResCookie(res.cookies, 'id').path", '/deep', SERVED],
  ["hasResCookie(res.cookies, 'old')", true, SERVED],
])('%s is %o', (expression, expected, shape) => {
  expect(ask(expression, shape)).toEqual(expected);
});

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1';

test.each([
  [CHROME, { name: 'Chrome', version: '126.0', os: 'Windows', osVersion: '10', isDesktop: true, isBot: false }],
  [`${CHROME} Edg/126.0`, { name: 'Edge', isDesktop: true }],
  [IPHONE, { name: 'Safari', os: 'iOS', osVersion: '17.5', device: 'iPhone', isMobile: true, isTablet: false }],
  ['curl/8.4.0', { name: 'curl', version: '8.4.0', isBot: true, isDesktop: false }],
  [
    'Mozilla/5.0; compatible; GPTBot/1.2; +https://openai.com/gptbot',
    { name: 'GPTBot', url: 'https://openai.com/gptbot' },
  ],
  ['Mozilla/5.0 (compatible; Own/3.1; +https://own.example)', { name: 'Own', version: '3.1', isBot: true }],
  ['', { name: '', version: '', os: '', device: '', url: '', isBot: false }],
])('user agent %j', (header, expected) => {
  expect(readUserAgent(header)).toMatchObject(expected);
});

test('expressions see the user agent whole and in parts', () => {
  const shape = { fields: { 'User-Agent': IPHONE } };
  expect(ask('req.user_agent', shape)).toBe(IPHONE);
  expect(ask('req.user_agent.name + req.user_agent.version', shape)).toBe('Safari17.5');
  expect(ask('req.user_agent.is_mobile && !req.user_agent.is_bot', shape)).toBe(true);
});

test('a user agent of any length is read in no time', () => {
  const exchange = exchangeOf({ fields: { 'User-Agent': `Mozilla/5.0 (${' '.repeat(30_000)}` } });
  const start = process.cpuUsage(); // Of this process: others may hold it up.
  evaluate('req.user_agent.is_bot', { exchange });
  expect(process.cpuUsage(start).user).toBeLessThan(100_000);
});
