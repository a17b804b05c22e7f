// The modules of edges and routes that the specification does not describe: set, read and unset.

import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { edge, moduleRows, routePath } from './module.ts';
import { anyRoute, type Row } from './rows.ts';

const always = (value: object) => () => value;

const restriction = {
  ...{ shape: shapes.ipRestriction, member: 'ip_restriction' },
  body: ({ ids }: World) => ({ enabled: false, ip_policy_ids: [ids.ipPolicy] }),
  answer: (world: World) => ({
    enabled: false,
    ip_policies: [expected.refTo(world, '/ip_policies', world.ids.ipPolicy)],
  }),
};

const toggle = { shape: shapes.toggle, body: always({}), answer: always({ enabled: true }) };

const headers = { enabled: false, add: { 'x-site': 'berlin', 'x-empty': '' }, remove: ['x-secret'] };
const withHeaders = { shape: shapes.headers, body: always(headers), answer: always(headers) };

const agents = { enabled: true, allow: ['^curl/'], deny: ['(?i)bot', 'crawler'] };

const terms = { enabled: false, timeout: 300, host_header: 'rewrite', allow_half_close: true };

const signIn = {
  ...{ options_passthrough: false, cookie_prefix: '', inactivity_timeout: 259_200, maximum_duration: 1_209_600 },
};

const rule = {
  name: 'nobody from there',
  expressions: ["req.headers['x-site'].exists(site, site == 'berlin')"],
  actions: [{ type: 'deny', config: { status_code: 404 } }],
};
const requests = JSON.stringify({ on_http_request: [rule] });
const everybody = { name: '', expressions: [], actions: [{ type: 'deny', config: null }] };
const connections = 'on_tcp_connect:\n  - actions:\n      - type: deny\n';

const ofRoute = (path: string, name: string) => ({
  ...{ path: `${routePath}/{id}/${path}`, name: `httpsEdgeRoute${name}`, member: path, at: anyRoute },
});
const ofTlsEdge = (path: string, name: string) => ({
  ...{ path: `/edges/tls/{id}/${path}`, name: `tlsEdge${name}`, member: path, at: edge('/edges/tls') },
});
const ofTcpEdge = (path: string, name: string) => ({
  ...{ path: `/edges/tcp/{id}/${path}`, name: `tcpEdge${name}`, member: path, at: edge('/edges/tcp') },
});

export const edgeModuleRows: Row[] = [
  { ...ofRoute('ip_restriction', 'IpRestriction'), ...restriction },
  { ...ofRoute('compression', 'Compression'), ...toggle },
  { ...ofRoute('websocket_tcp_converter', 'WebsocketTcpConverter'), ...toggle },
  { ...ofRoute('request_headers', 'RequestHeaders'), ...withHeaders },
  { ...ofRoute('response_headers', 'ResponseHeaders'), ...withHeaders },
  {
    ...ofRoute('webhook_verification', 'WebhookVerification'),
    shape: shapes.webhookVerification,
    body: always({ provider: 'github', secret: 'only shown once' }),
    answer: always({ enabled: true, provider: 'github', secret: null }),
    shown: { secret: 'only shown once' },
  },
  {
    ...ofRoute('upstream', 'Upstream'),
    ...{ shape: shapes.upstream, body: always(terms), answer: always(terms) },
  },
  {
    ...ofRoute('user_agent_filter', 'UserAgentFilter'),
    ...{ shape: shapes.userAgentFilter, body: always(agents), answer: always(agents) },
  },
  {
    ...ofRoute('basic_auth', 'BasicAuth'),
    shape: shapes.basicAuth,
    body: always({ credentials: [{ username: 'ada', password: 'never shown' }] }),
    answer: always({ enabled: true, realm: 'gateway', credentials: [{ username: 'ada' }] }),
  },
  {
    ...ofRoute('oauth', 'Oauth'),
    shape: shapes.oauth,
    body: always({
      provider: { github: { client_id: 'app', client_secret: 'never shown', teams: ['acme/developers'] } },
      auth_check_interval: 60,
    }),
    answer: always({
      ...{ enabled: true, ...signIn, auth_check_interval: 60 },
      provider: {
        ...{ amazon: null, facebook: null, gitlab: null, google: null, linkedin: null, microsoft: null, twitch: null },
        github: {
          ...{ client_id: 'app', client_secret: null, scopes: [], email_addresses: [], email_domains: [] },
          ...{ teams: ['acme/developers'], organizations: [] },
        },
      },
    }),
  },
  {
    ...ofRoute('oidc', 'Oidc'),
    shape: shapes.oidc,
    body: always({
      ...{ enabled: false, issuer: 'https://id.example.com', client_id: 'shop', client_secret: 'never shown' },
      ...{ scopes: ['email'], options_passthrough: true, cookie_prefix: 'shop.', inactivity_timeout: 600 },
    }),
    answer: always({
      ...{ ...signIn, enabled: false, issuer: 'https://id.example.com', client_id: 'shop', client_secret: null },
      ...{ scopes: ['email'], options_passthrough: true, cookie_prefix: 'shop.', inactivity_timeout: 600 },
    }),
  },
  {
    ...ofRoute('traffic_policy', 'TrafficPolicy'),
    shape: shapes.trafficPolicy,
    body: always({ enabled: false, value: requests }),
    answer: always({ enabled: false, value: requests }),
  },
  {
    ...ofRoute('policy', 'Policy'),
    shape: shapes.policy,
    body: always({ inbound: [rule] }),
    answer: always({ enabled: true, inbound: [rule], outbound: [] }),
  },
  { ...ofTlsEdge('ip_restriction', 'IpRestriction'), ...restriction },
  {
    ...ofTlsEdge('tls_termination', 'TlsTermination'),
    shape: shapes.tlsTermination,
    body: always({ terminate_at: 'upstream', min_version: '1.3' }),
    answer: always({ enabled: true, terminate_at: 'upstream', min_version: '1.3' }),
  },
  {
    ...ofTlsEdge('traffic_policy', 'TrafficPolicy'),
    shape: shapes.trafficPolicy,
    body: always({ value: connections }),
    answer: always({ enabled: true, value: connections }),
  },
  {
    ...ofTlsEdge('policy', 'Policy'),
    shape: shapes.policy,
    body: always({ enabled: false, inbound: [{ actions: [{ type: 'deny' }] }] }),
    answer: always({ enabled: false, inbound: [everybody], outbound: [] }),
  },
  { ...ofTcpEdge('ip_restriction', 'IpRestriction'), ...restriction },
  {
    ...ofTcpEdge('traffic_policy', 'TrafficPolicy'),
    shape: shapes.trafficPolicy,
    body: always({ value: connections }),
    answer: always({ enabled: true, value: connections }),
  },
  {
    ...ofTcpEdge('policy', 'Policy'),
    shape: shapes.policy,
    body: always({ inbound: [{ actions: [{ type: 'deny' }] }] }),
    answer: always({ enabled: true, inbound: [everybody], outbound: [] }),
  },
  {
    ...{ path: '/edges/https/{id}/tls_termination', name: 'httpsEdgeTlsTermination', member: 'tls_termination' },
    at: edge('/edges/https'),
    shape: shapes.tlsTermination,
    body: always({ enabled: false }),
    answer: always({ enabled: false, terminate_at: 'edge', min_version: '1.2' }),
  },
].flatMap(moduleRows);
