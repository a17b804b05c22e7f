// Backends and edges with the calls that each kind has, and the modules of edges and routes.

import type { ClientName, Members, Writing } from './clients.ts';
import { about, changed, type Kind, noTexts, ref, texts } from './kinds.ts';

/** A module: it is read, replaced and removed by itself. */
export interface Module {
  name: string;
  shape: string;
  /** Its members in each of the ways that exclude each other. */
  given: Members[];
  /** Members that must be there; none where it may be empty. */
  needs?: Members;
  /** Clients that have it, where not all do. */
  of?: ClientName[];
  /** Set when what is written has other members than what is read: what was read cannot be written back. */
  isWrittenOtherwise?: boolean;
}

/** What has modules. */
export interface ModuleOwner {
  path: string;
  /** What the path names, as `Kind.within`. */
  within: Record<string, string>;
  modules: Module[];
}

const backendModule: Module = {
  name: 'backend',
  shape: `enabled! backend ${ref}`,
  needs: { backend_id: '$backend' },
  given: [{ enabled: true }],
  isWrittenOtherwise: true,
};
const ipRestriction: Module = {
  name: 'ip_restriction',
  shape: `enabled! ip_policies* ${ref}`,
  needs: { ip_policy_ids: ['$ipPolicy'] },
  given: [{ enabled: true }],
  isWrittenOtherwise: true,
};
const mutualTls: Module = {
  name: 'mutual_tls',
  shape: `enabled! certificate_authorities* ${ref}`,
  needs: { certificate_authority_ids: ['$authority'] },
  given: [{ enabled: false }],
  isWrittenOtherwise: true,
};
const tlsTermination = (given: Members[]): Module => ({
  ...{ name: 'tls_termination', shape: 'enabled! terminate_at min_version?', given },
});

const rule = {
  name: 'nobody',
  expressions: ["conn.client_ip == '192.0.2.1'"],
  actions: [{ type: 'deny', config: {} }],
};
const policies = (phase: string): Module[] => [
  {
    ...{ name: 'traffic_policy', of: ['go', 'python', 'ruby'], shape: 'enabled! value' },
    needs: { value: JSON.stringify({ [phase]: [rule] }) },
    given: [{ enabled: true }],
  },
  {
    ...{ name: 'policy', of: ['typescript'] },
    shape:
      'enabled! inbound* { expressions* actions* { type } name } outbound* { expressions* actions* { type } name }',
    needs: { inbound: [rule], outbound: [] },
    given: [{ enabled: true }],
  },
];

const headers = (name: string): Module => ({
  ...{ name, shape: 'enabled! add% remove*' },
  given: [{ enabled: true, add: { 'x-site': 'berlin' }, remove: ['x-trace'] }],
});
const toggle = (name: string): Module => ({ name, shape: 'enabled!', given: [{ enabled: false }] });

const app = 'client_id? client_secret? scopes* email_addresses* email_domains*';
const credentials = { client_id: 'an app', client_secret: 'a-secret' };
const allowed = { email_addresses: ['ada@example.com'], email_domains: ['example.com'] };
const times = { inactivity_timeout: 600, maximum_duration: 7200 };
const signIn = { enabled: true, options_passthrough: true, cookie_prefix: 'shop.', ...times };
const otherProviders = ['amazon', 'facebook', 'gitlab', 'google', 'linkedin', 'microsoft', 'twitch'];

/** A new edge has all that the clients' types know, so that each module is in one request at least. */
const modulesOf = (modules: Module[]): Writing => ({
  given: [Object.fromEntries(modules.map(({ name, needs, given }) => [name, { ...needs, ...given[0] }]))],
  only: Object.fromEntries(modules.flatMap(({ name, of }) => (of ? [[name, of]] : []))),
});
const shapeOf = (modules: Module[]) => modules.map(({ name, shape }) => `${name}? { ${shape} }`).join(' ');

const routeModules: Module[] = [
  backendModule,
  ipRestriction,
  {
    name: 'circuit_breaker',
    shape: 'enabled! tripped_duration# rolling_window# num_buckets# volume_threshold# error_threshold_percentage#',
    given: [
      {
        ...{ enabled: true, tripped_duration: 20, rolling_window: 30, num_buckets: 5, volume_threshold: 10 },
        error_threshold_percentage: 0.25,
      },
    ],
  },
  toggle('compression'),
  headers('request_headers'),
  headers('response_headers'),
  {
    ...{ name: 'webhook_verification', shape: 'enabled! provider secret?' },
    needs: { provider: 'github', secret: 'a-secret' },
    given: [{ enabled: true }],
  },
  {
    name: 'oidc',
    shape:
      'enabled! options_passthrough! cookie_prefix inactivity_timeout# maximum_duration# issuer client_id ' +
      'client_secret? scopes*',
    needs: { issuer: 'https://id.example.com', ...credentials },
    given: [{ ...signIn, scopes: ['email'] }],
  },
  toggle('websocket_tcp_converter'),
  {
    ...{ name: 'user_agent_filter', shape: 'enabled! allow* deny*' },
    given: [{ enabled: true, allow: ['^curl/'], deny: ['(?i)bot'] }],
  },
  ...policies('on_http_request'),
];

/** It excludes the other module by which visitors sign in. */
const oauth: Module = {
  name: 'oauth',
  shape:
    `enabled! provider { github? { ${app} teams* organizations* } ` +
    `${otherProviders.map((name) => `${name}? { ${app} }`).join(' ')} } options_passthrough! cookie_prefix ` +
    'inactivity_timeout# maximum_duration# auth_check_interval#',
  needs: { provider: { github: { ...credentials, teams: ['acme/developers'], organizations: ['acme'] } } },
  given: [
    { ...signIn, auth_check_interval: 60 },
    ...otherProviders.map((name) => ({ provider: { [name]: { ...credentials, ...allowed, scopes: ['email'] } } })),
  ],
};

const httpsModules = [mutualTls, tlsTermination([{ enabled: true, min_version: '1.3' }])];
const tcpModules = [backendModule, ipRestriction, ...policies('on_tcp_connect')];
const tlsModules = [
  ...[backendModule, ipRestriction, mutualTls],
  tlsTermination([{ enabled: true, terminate_at: 'edge', min_version: '1.2' }]),
  ...policies('on_tcp_connect'),
];

const route = `edge_id match_type match ${about} ${shapeOf([...routeModules, oauth])}`;
const matched = { match_type: 'path_prefix', match: '/{n}' };

function edge(kind: 'https' | 'tls' | 'tcp', hostport: string, modules: Module[], more = 'hostports*'): Kind {
  const { given: [whole] = [], only } = modulesOf(modules);
  return {
    ...{ path: `/edges/${kind}`, list: `${kind}_edges` },
    shape: `${about} ${more} ${shapeOf(modules)}`,
    create: { given: [{ ...texts, hostports: [hostport], ...whole }], blank: noTexts, only },
    update: { given: [{ ...changed, hostports: [hostport] }, { ...whole }], only },
  };
}

/** A kind of backends, whose updates say what they lead to, empty where the caller did not. */
function backend(name: string, needs: Members, update: Members, more: string, writings: Partial<Writing> = {}): Kind {
  return {
    ...{ path: `/backends/${name}`, list: 'backends', shape: `${about} ${more}` },
    create: { needs, given: [texts], blank: noTexts, ...writings },
    update: { given: [{ ...changed, ...needs, ...update }], ...writings, blank: empty(needs) },
  };
}

const empty = (members: Members) =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      typeof value === 'string' ? '' : Array.isArray(value) ? [] : {},
    ]),
  );

const page = { body: 'gone fishing', headers: { 'retry-after': '60' }, status_code: 503 };

export const edgeKinds: Kind[] = [
  backend('failover', { backends: ['$backend'] }, { backends: ['$backend', '$otherBackend'] }, 'backends*'),
  backend('weighted', { backends: { $backend: 1 } }, { backends: { $backend: 1, $otherBackend: 2 } }, 'backends%'),
  backend('tunnel_group', { labels: { app: 'shop' } }, { labels: { app: 'other' } }, `labels% tunnels* ${ref}`),
  {
    ...backend('static', { address: 'api.example.com:443' }, { tls: { enabled: true } }, 'address tls { enabled! }'),
    create: {
      needs: { address: 'API.example.com:443' },
      given: [{ ...texts, tls: { enabled: true } }],
      blank: noTexts,
      hollow: ['tls'],
    },
    update: { given: [{ ...changed, address: 'other.example.com:80' }], blank: { address: '' }, hollow: ['tls'] },
  },
  {
    ...{ path: '/backends/http_response', list: 'backends' },
    shape: `${about} body headers% status_code#`,
    create: { given: [{ ...texts, ...page }], blank: { ...noTexts, body: '', headers: {} } },
    update: { given: [{ ...changed, ...page, status_code: 404 }] },
  },
  edge('https', 'W{n}.clients.example.com:443', httpsModules, `hostports* routes* { ${route} }`),
  edge('tls', 't{n}.clients.example.com:443', tlsModules),
  // The original shows null where a TCP edge has none.
  edge('tcp', '$address', tcpModules, 'hostports*?'),
  {
    path: '/edges/https/{edge_id}/routes',
    within: { edge_id: '/edges/https' },
    shape: route,
    create: {
      needs: matched,
      given: [{ ...texts, ...modulesOf(routeModules).given?.[0] }, { oauth: { ...oauth.needs, ...oauth.given[0] } }],
      blank: noTexts,
      only: modulesOf(routeModules).only,
    },
    update: {
      given: [{ ...changed, match_type: 'exact_path', match: '/exact-{n}' }, modulesOf(routeModules).given?.[0] ?? {}],
      blank: { match_type: '', match: '', ...noTexts },
      only: modulesOf(routeModules).only,
    },
  },
];

/** Modules by what they are a part of. */
export const moduleOwners: ModuleOwner[] = [
  { path: '/edges/https/{id}', within: { id: '/edges/https' }, modules: httpsModules },
  { path: '/edges/tls/{id}', within: { id: '/edges/tls' }, modules: tlsModules },
  { path: '/edges/tcp/{id}', within: { id: '/edges/tcp' }, modules: tcpModules },
  {
    path: '/edges/https/{edge_id}/routes/{id}',
    within: { edge_id: '/edges/https', id: '/edges/https/{edge_id}/routes' },
    modules: [...routeModules, oauth],
  },
];
