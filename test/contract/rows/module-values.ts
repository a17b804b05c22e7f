// Settings of modules that are wrong, one beyond every limit.

import { newId } from '../../../src/store/ids.ts';
import { type HostileCase, wrong } from '../hostile/case.ts';
import type { WritingName } from '../hostile/operations.ts';
import { hostname, type World } from '../world.ts';

const restrictions: HostileCase[] = (
  ['putRouteIpRestriction', 'putTlsIpRestriction', 'putTcpIpRestriction'] as const
).flatMap((name) => [
  wrong(name, 'ip_policy_ids', undefined, 7025),
  wrong(name, 'ip_policy_ids', [], 7025),
  wrong(name, 'ip_policy_ids', Array(11).fill(newId('ipp')), 7013),
  ...[newId('ipp'), newId('ca'), 'x', ''].map((id) =>
    wrong(name, 'ip_policy_ids', [id], 7007, { blamed: 'ip_policy_ids[0]' }),
  ),
  wrong(name, 'ip_policy_ids', ({ ids }: World) => [ids.ipPolicy, ids.ipPolicy], 90056, {
    blamed: 'ip_policy_ids[1]',
  }),
]);

const many = (count: number) => Array.from({ length: count }, (_, index) => `x-${index}`);
const headers: HostileCase[] = (['putRequestHeaders', 'putResponseHeaders'] as const).flatMap((name) => [
  ...['', 'a b', 'ä', 'a:', 'x\r\ny', 'x'.repeat(129)].flatMap((field) => [
    wrong(name, 'add', { [field]: 'v' }, 2210),
    wrong(name, 'remove', [field], 2210),
  ]),
  ...['Content-Length', 'transfer-encoding', 'Connection', 'upgrade'].flatMap((field) => [
    wrong(name, 'add', { [field]: 'v' }, 2219),
    wrong(name, 'remove', [field], 2219),
  ]),
  wrong(name, 'add', { 'x-a': 'one\r\nx-b: two' }, 2211),
  wrong(name, 'add', { 'x-a': 'x'.repeat(8193) }, 2209),
  wrong(name, 'add', Object.fromEntries(many(51).map((field) => [field, ''])), 2212),
  wrong(name, 'remove', many(51), 2212),
]);

const agents: HostileCase[] = (['allow', 'deny'] as const).flatMap((list) => [
  ...['(', '[z-a]', '(?=x)', '(a)\\1', '*', 'x{1001}'].map((pattern) =>
    wrong('putUserAgentFilter', list, ['ok', pattern], 2261, { blamed: `${list}[1]` }),
  ),
  wrong('putUserAgentFilter', list, ['x'.repeat(1025)], 2221, { blamed: `${list}[0]` }),
  wrong('putUserAgentFilter', list, Array(101).fill('x'), 2218),
]);

const upstreams: HostileCase[] = [
  ...[0, 3601, 4_294_967_295].map((seconds) => wrong('putUpstream', 'timeout', seconds, 90426)),
  ...['', 'a b', 'a/b', 'https://a/b', 'ftp://a', 'a:b', 'x'.repeat(300), 'a\r\nb: c'].map((host) =>
    wrong('putUpstream', 'host_header', host, 90426),
  ),
];

const webhooks: HostileCase[] = [
  ...['', 'nobody', 'git hub', 'toString'].map((name) => wrong('putWebhookVerification', 'provider', name, 2222)),
  wrong('putWebhookVerification', 'provider', undefined, 90007),
  wrong('putWebhookVerification', 'secret', undefined, 2234),
  wrong('putWebhookVerification', 'secret', '', 2223),
  wrong('putWebhookVerification', 'secret', 'x'.repeat(4097), 90057),
];

const user = (username: string, password?: string) => ({ username, ...(password === undefined ? {} : { password }) });
const credentials = (list: object[], number: number, blamed = 'credentials') =>
  wrong('putBasicAuth', 'credentials', list, number, { blamed });
const passwords: HostileCase[] = [
  wrong('putBasicAuth', 'credentials', undefined, 90007),
  credentials([], 90059),
  credentials(
    many(11).map((name) => user(name, 'long enough')),
    90059,
  ),
  credentials([user('ada', 'long enough'), user('ada', 'another one')], 90059),
  ...['', 'a:b', 'a\nb', 'é'.repeat(128)].map((name) =>
    credentials([user(name, 'long enough')], 2257, 'credentials[0].username'),
  ),
  ...['', 'seven77', 'x'.repeat(129), 'with\na line', undefined].map((password) =>
    credentials([user('ada', 'long enough'), user('bob', password)], 2258, 'credentials[1].password'),
  ),
  wrong('putBasicAuth', 'realm', 'Büro', 90058),
  wrong('putBasicAuth', 'realm', 'x'.repeat(129), 90058),
];

const app = { client_id: 'app', client_secret: 'long enough' };
const ofGithub = (member: string, value: unknown, number = 90423, blamed = member) =>
  wrong('putOauth', 'provider', { github: { ...app, [member]: value } }, number, {
    blamed: `provider.github.${blamed}`,
  });
const signIns: HostileCase[] = [
  ...(['putOidc', 'putOauth'] as const).flatMap((name) => [
    ...['a b', 'a-b', 'a_b', 'x'.repeat(65)].map((prefix) => wrong(name, 'cookie_prefix', prefix, 90423)),
    ...[1, 59, 31_536_001].flatMap((seconds) => [
      wrong(name, 'inactivity_timeout', seconds, 90423),
      wrong(name, 'maximum_duration', seconds, 90423),
    ]),
  ]),
  ...['', 'id.example.com', 'ftp://id.example.com', 'https://a:b@id.example.com', `https://${'x'.repeat(250)}`].map(
    (issuer) => wrong('putOidc', 'issuer', issuer, 90423),
  ),
  ...['', 'x'.repeat(513)].map((id) => wrong('putOidc', 'client_id', id, 90423)),
  wrong('putOidc', 'client_secret', undefined, 90425),
  wrong('putOidc', 'client_secret', 'x'.repeat(513), 90423),
  wrong('putOidc', 'scopes', ['email', 'a b'], 90423, { blamed: 'scopes[1]' }),
  wrong('putOidc', 'scopes', many(21), 90423),
  ...[{}, { github: app, google: app }].map((provider) => wrong('putOauth', 'provider', provider, 90424)),
  wrong('putOauth', 'provider', undefined, 90007),
  ...[9, 2_592_001].map((seconds) => wrong('putOauth', 'auth_check_interval', seconds, 90423)),
  ofGithub('client_id', undefined),
  ofGithub('client_id', ''),
  ofGithub('client_secret', ''),
  ofGithub('client_secret', undefined, 90425),
  ofGithub('email_addresses', ['ann@example.com', 'ann'], 90423, 'email_addresses[1]'),
  ofGithub('email_domains', ['@example.com'], 90423, 'email_domains[0]'),
  ofGithub('email_domains', Array(101).fill('example.com')),
  ofGithub('teams', ['developers'], 90423, 'teams[0]'),
  ofGithub('organizations', ['acme/developers'], 90423, 'organizations[0]'),
];

const terminations: HostileCase[] = [
  ...(['putTlsTermination', 'putHttpsTlsTermination'] as const).flatMap((name) =>
    ['', '1.1', '1.0', 'TLSv1.2', '1.30'].map((version) => wrong(name, 'min_version', version, 90074)),
  ),
  wrong('putHttpsTlsTermination', 'terminate_at', 'upstream', 7109),
  wrong('updateHttpsEdge', 'tls_termination', { terminate_at: 'upstream' }, 7109, {
    blamed: 'tls_termination.terminate_at',
  }),
  wrong('updateTlsEdge', 'tls_termination', { terminate_at: 'upstream' }, 7062, {
    title: 'mutual TLS where TLS goes through',
    blamed: '',
    body: ({ ids }) => ({
      mutual_tls: { certificate_authority_ids: [ids.authority] },
      tls_termination: { terminate_at: 'upstream' },
    }),
  }),
];

const rule = (...actions: object[]) => [{ actions }];
const policy = (name: WritingName, document: object | string, number: number) =>
  wrong(name, 'value', typeof document === 'string' ? document : JSON.stringify(document), number);
const policies: HostileCase[] = [
  wrong('putRouteTrafficPolicy', 'value', undefined, 90007),
  ...(['putRouteTrafficPolicy', 'putTlsTrafficPolicy', 'putTcpTrafficPolicy'] as const).flatMap((name) => [
    policy(name, '', 2236),
    policy(name, '[', 2236),
    policy(name, 'null', 2236),
    policy(name, { on_http_requests: [] }, 2204),
    policy(name, { inbound: rule() }, 2206),
    policy(name, { inbound: rule({ type: 'denny' }) }, 2201),
    policy(name, { inbound: [{ expressions: ['conn.'], actions: [{ type: 'deny' }] }] }, 2200),
  ]),
  policy('putRouteTrafficPolicy', { on_tcp_connect: rule({ type: 'deny' }) }, 2248),
  policy('putTlsTrafficPolicy', { on_http_request: rule({ type: 'deny' }) }, 2230),
  policy('putTcpTrafficPolicy', { on_http_request: rule({ type: 'deny' }) }, 2230),
  wrong('putRoutePolicy', 'inbound', rule({ type: 'denny' }), 2201),
  wrong('putRoutePolicy', 'inbound', rule(), 2206),
  wrong('putTlsPolicy', 'outbound', rule({ type: 'deny' }), 2230),
  wrong('putRoutePolicy', 'inbound', [{ actions: [{}] }], 90007, { blamed: 'inbound[0].actions[0].type' }),
  wrong('updateRoute', 'traffic_policy', { value: '{}' }, 90055, {
    title: 'a policy in both of its shapes',
    body: () => ({ policy: {}, traffic_policy: { value: '{}' } }),
  }),
  wrong('createRoute', 'traffic_policy', { value: '[' }, 2236, { blamed: 'traffic_policy.value' }),
];

const served: HostileCase[] = (['createHttpsEdge', 'updateTlsEdge'] as const).map((name) =>
  wrong(name, 'hostports', [`${hostname}:443`], 7132, { blamed: 'hostports[0]', status: 409 }),
);

export const wrongModules = [
  ...restrictions,
  ...headers,
  wrong('putRequestHeaders', 'add', { Host: 'x' }, 2219),
  ...agents,
  ...upstreams,
  ...webhooks,
  ...passwords,
  ...signIns,
  ...terminations,
  ...policies,
  ...served,
];
