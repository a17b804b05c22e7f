// Policies that change requests and answers, and what a visit makes of them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { action, onRequest, onResponse, type ValidDocument } from './support.ts';

const passed = { status: 200, body: 'from upstream' };
const add = (headers: object) => action('add-headers', { headers });
const set = (headers: object) => action('set-headers', { headers });

const headers: ValidDocument[] = [
  {
    name: 'header fields are added to requests',
    policy: onRequest([add({ 'X-Path': '${req.url.path}', 'x-constant': 'a b' })]),
    request: { target: '/a/b?c' },
    expected: { ...passed, upstream: { headers: { 'x-path': '/a/b', 'x-constant': 'a b' } } },
  },
  {
    name: 'header fields are added to those that there are',
    policy: onRequest([add({ 'x-a': '2' })]),
    request: { headers: { 'x-a': '1' } },
    expected: { ...passed, upstream: { headers: { 'x-a': '1, 2' } } },
  },
  {
    name: 'the host is replaced',
    policy: onRequest([add({ host: 'inner.example.com' })]),
    expected: { ...passed, upstream: { headers: { host: 'inner.example.com' } } },
  },
  {
    name: 'a computed value cannot begin a line of its own',
    policy: onRequest([add({ 'x-a': "${'1\\r\\nx-evil: 2'}" })]),
    expected: { ...passed, upstream: { headers: { 'x-a': '1x-evil: 2' }, without: ['x-evil'] } },
  },
  {
    name: 'header fields are added to answers',
    policy: onResponse([add({ 'x-status': '${res.status_code}' })], 'res.status_code >= 200'),
    origin: { status: 201 },
    expected: { status: 201, body: 'from upstream', headers: { 'x-status': '201' } },
  },
  {
    name: 'header fields are set in place of those that there are, also of those that CGI would read as the same',
    policy: onRequest([set({ 'X-User': 'ann', 'x-new': '${req.method}' })]),
    request: { headers: { 'x-user': 'root', X_User: 'root', 'x-USER': 'admin', 'x-users': '1' } },
    expected: {
      ...passed,
      upstream: { headers: { 'x-user': 'ann', 'x-new': 'GET', 'x-users': '1' }, without: ['x_user'] },
    },
  },
  {
    name: 'the host is set',
    policy: onRequest([set({ host: 'inner.example.com' })]),
    expected: { ...passed, upstream: { headers: { host: 'inner.example.com' } } },
  },
  {
    name: 'header fields of answers are set in place of those that there are',
    policy: onResponse([set({ 'x-upstream': 'no', 'x-status': '${res.status_code}' })]),
    expected: { ...passed, headers: { 'x-upstream': 'no', 'x-status': '200' } },
  },
  {
    name: 'header fields are taken out of requests',
    policy: onRequest([action('remove-headers', { headers: ['X-Secret'] })]),
    request: { headers: { 'x-secret': '1', 'x-other': '2' } },
    expected: { ...passed, upstream: { headers: { 'x-other': '2' }, without: ['x-secret'] } },
  },
  {
    name: 'header fields are taken out of answers',
    policy: onResponse([action('remove-headers', { headers: ['x-upstream'] })]),
    expected: { ...passed, without: ['x-upstream'] },
  },
  {
    name: 'a header field is replaced by taking it out first',
    policy: onResponse([action('remove-headers', { headers: ['x-upstream'] }), add({ 'x-upstream': 'no' })]),
    expected: { ...passed, headers: { 'x-upstream': 'no' } },
  },
];

const variables: ValidDocument[] = [
  {
    name: 'variables keep their types',
    policy: onRequest([
      action('set-vars', { vars: [{ n: 2 }, { double: '${vars.n * 2}' }, { text: 'n${vars.n}' }, { flag: true }] }),
      add({ 'x-a': "${vars.double + 1} ${vars.text} ${vars.flag ? 'yes' : 'no'}" }),
    ]),
    expected: { ...passed, upstream: { headers: { 'x-a': '5 n2 yes' } } },
  },
  {
    name: 'variables are lists and objects too',
    policy: onRequest([
      action('set-vars', { vars: [{ list: ['a', '${req.method}'] }, { map: { inner: { b: 1.5 } } }] }),
      add({ 'x-a': '${vars.list[1]} ${vars.map.inner.b} ${vars.list}' }),
    ]),
    expected: { ...passed, upstream: { headers: { 'x-a': 'GET 1.5 ["a","GET"]' } } },
  },
  {
    name: 'later rules ask about variables',
    policy: {
      on_http_request: [
        { actions: [action('set-vars', { vars: [{ isApi: "${req.url.path.startsWith('/api/')}" }] })] },
        { expressions: ['vars.isApi'], actions: [action('deny', { status_code: 404 })] },
      ],
    },
    request: { target: '/api/x' },
    expected: { status: 404, upstream: null },
  },
  {
    name: 'something is logged, and nothing else happens',
    policy: onRequest([action('log', { metadata: { path: '${req.url.path}', deep: { n: 1 }, list: [true] } })]),
    expected: passed,
  },
];

const urls: ValidDocument[] = [
  {
    name: 'part of the URL is rewritten',
    policy: onRequest([action('url-rewrite', { from: '/v1/', to: '/v2/' })]),
    request: { target: '/v1/users?id=1' },
    expected: { ...passed, upstream: { target: '/v2/users?id=1' } },
  },
  {
    name: 'a rewrite uses what groups took',
    policy: onRequest([action('url-rewrite', { from: '/users/([0-9]+)$', to: '/people?id=$1' })]),
    request: { target: '/users/42' },
    expected: { ...passed, upstream: { target: '/people?id=42' } },
  },
  {
    name: 'all that is found is rewritten',
    policy: onRequest([action('url-rewrite', { from: 'x', to: 'y' })]),
    request: { target: '/x/x' },
    expected: { status: 200, upstream: { target: '/y/y' } },
  },
  {
    name: 'the whole URL is rewritten, and the host with it',
    policy: onRequest([action('url-rewrite', { to: 'https://inner.example.com/all' })]),
    expected: { ...passed, upstream: { target: '/all', headers: { host: 'inner.example.com' } } },
  },
  {
    name: 'the words of older rewrites are understood',
    policy: onRequest([action('url-rewrite', { from: '/old.*', to: '/new?$args&was=$uri' })]),
    request: { target: '/old?a=b' },
    expected: { ...passed, upstream: { target: '/new?a=b&was=/old' } },
  },
  {
    name: 'a URL in which nothing is found stays as it is',
    policy: onRequest([action('url-rewrite', { from: '/v1/', to: '/v2/' })]),
    request: { target: '/v3/%7Ea' },
    expected: { ...passed, upstream: { target: '/v3/%7Ea' } },
  },
  {
    name: 'what no target may have is escaped',
    policy: onRequest([action('url-rewrite', { from: '/a$', to: '/ä b' })]),
    request: { target: '/a' },
    expected: { ...passed, upstream: { target: '/%C3%A4%20b' } },
  },
  {
    name: 'visitors are sent elsewhere',
    policy: onRequest([action('redirect', { to: 'https://new.example.com/' })]),
    expected: { status: 302, headers: { location: 'https://new.example.com/' }, body: '', upstream: null },
  },
  {
    name: 'visitors are sent to another path for good',
    policy: onRequest([action('redirect', { from: '/old/(.*)', to: '/new/$1', status_code: 301 })]),
    request: { target: '/old/a?b=c' },
    expected: { status: 301, headers: { location: 'https://{host}/new/a?b=c' }, upstream: null },
  },
  {
    name: 'a path is enough to send visitors to',
    policy: onRequest(
      [action('redirect', { to: '/login', headers: { 'x-why': '${req.method}' } })],
      "req.url.path != '/login'",
    ),
    request: { target: '/account' },
    expected: { status: 302, headers: { location: 'https://{host}/login', 'x-why': 'GET' }, upstream: null },
  },
  {
    name: 'nobody is sent to where they are',
    policy: onRequest([action('redirect', { from: '/a', to: '/a' })]),
    request: { target: '/a' },
    expected: { ...passed, upstream: { target: '/a' } },
  },
  {
    name: 'what is computed is escaped for a URL',
    policy: onRequest([action('redirect', { to: "/search?q=${getQueryParam('q')[0]}" })], "req.url.path == '/s'"),
    request: { target: '/s?q=a%20b' },
    expected: { status: 302, headers: { location: 'https://{host}/search?q=a%20b' }, upstream: null },
  },
  {
    name: 'a path that reads like the name of a host does not lead there: it is refused',
    policy: onRequest([action('redirect', { to: '${req.url.path}x' })]),
    request: { target: '//evil.example.com/' },
    expected: { status: 400, upstream: null },
  },
];

export const changing = [...headers, ...variables, ...urls];
