// The operations that take a body, each with a body that is right and the type of every member: what is sent wrong is
// made from these.

import { moduleWritings } from '../rows/module-writings.ts';
import { parts } from '../rows/targets.ts';
import { none, texts, the, type Writing, writing } from '../rows/writing.ts';
import type { World } from '../world.ts';
import { listedWritings } from './listed-writings.ts';

const auth = (place: string) =>
  ({
    [place]: 'object',
    [`${place}.auth`]: 'object',
    [`${place}.auth.role`]: 'object',
    [`${place}.auth.role.role_arn`]: 'string',
    [`${place}.auth.creds`]: 'object',
    [`${place}.auth.creds.aws_access_key_id`]: 'string',
    [`${place}.auth.creds.aws_secret_access_key`]: 'string',
  }) as const;
const azure = Object.keys(parts.azure).map((name) => [`target.azure_logs_ingestion.${name}`, 'string'] as const);
const datadog = Object.keys(parts.datadog).map((name) => [`target.datadog.${name}`, 'string'] as const);
const destination = {
  ...texts,
  format: 'string',
  target: 'object',
  ...auth('target.firehose'),
  'target.firehose.delivery_stream_arn': 'string',
  ...auth('target.kinesis'),
  'target.kinesis.stream_arn': 'string',
  ...auth('target.cloudwatch_logs'),
  'target.cloudwatch_logs.log_group_arn': 'string',
  'target.datadog': 'object',
  ...Object.fromEntries(datadog),
  'target.azure_logs_ingestion': 'object',
  ...Object.fromEntries(azure),
  'target.webhook': 'object',
  'target.webhook.url': 'string',
  'target.webhook.signing_secret': 'string',
  'target.file': 'object',
  'target.file.name': 'string',
} as Writing['members'];

const breaker = (place = ''): Writing['members'] => ({
  [`${place}enabled`]: 'boolean',
  [`${place}tripped_duration`]: 'uint32',
  [`${place}rolling_window`]: 'uint32',
  [`${place}num_buckets`]: 'uint32',
  [`${place}volume_threshold`]: 'uint32',
  [`${place}error_threshold_percentage`]: 'number',
});
const mutualTls = (place = ''): Writing['members'] => ({
  [`${place}enabled`]: 'boolean',
  [`${place}certificate_authority_ids`]: 'ids',
});
const backend = (place = ''): Writing['members'] => ({ [`${place}enabled`]: 'boolean', [`${place}backend_id`]: 'id' });

const cloudEndpoint: Writing['members'] = {
  ...texts,
  url: 'string',
  type: 'enum',
  traffic_policy: 'string',
  name: 'string',
  pooling_enabled: 'boolean',
};
const edge = { ...texts, hostports: 'strings' } as const;
const httpsEdge: Writing['members'] = { ...edge, mutual_tls: 'object', ...mutualTls('mutual_tls.') };
const tcpEdge: Writing['members'] = { ...edge, backend: 'object', ...backend('backend.') };
const tlsEdge: Writing['members'] = { ...httpsEdge, backend: 'object', ...backend('backend.') };
const route: Writing['members'] = {
  ...texts,
  match_type: 'enum',
  match: 'string',
  backend: 'object',
  ...backend('backend.'),
  circuit_breaker: 'object',
  ...breaker('circuit_breaker.'),
};
const subscription: Writing['members'] = { ...texts, sources: 'objects', destination_ids: 'ids' };
const source: Writing['members'] = { type: 'string', fields: 'strings', filter: 'string', sample_rate: 'number' };
const domain: Writing['members'] = {
  ...texts,
  certificate_id: 'id',
  certificate_management_policy: 'object',
  'certificate_management_policy.authority': 'string',
  'certificate_management_policy.private_key_type': 'string',
};

const routePath = '/edges/https/{edge_id}/routes';
const ofEdge = ({ ids }: World) => ({ edge_id: ids.httpsEdge });
const theRoute = ({ ids }: World) => ({ edge_id: ids.httpsEdge, id: ids.route });
const withAuthority = ({ ids }: World) => ({ certificate_authority_ids: [ids.authority] });
const withBackend = ({ ids }: World) => ({ backend_id: ids.backend });

export const writings = {
  ...listedWritings,
  ...moduleWritings,
  createCredential: writing('POST /credentials', 'createCredential', { ...texts, acl: 'strings', owner_id: 'id' }),
  updateCredential: writing(
    'PATCH /credentials/{id}',
    'updateCredential',
    { ...texts, acl: 'strings' },
    none,
    the('credential'),
  ),
  createApiKey: writing('POST /api_keys', 'createApiKey', {
    ...{ ...texts, owner_id: 'id', scopes: 'strings', expires_at: 'timestamp' },
  }),
  updateApiKey: writing(
    'PATCH /api_keys/{id}',
    'updateApiKey',
    { ...texts, scopes: 'strings', expires_at: 'timestamp' },
    none,
    the('apiKey'),
  ),
  createBotUser: writing('POST /bot_users', 'createBotUser', { name: 'string', active: 'boolean' }, () => ({
    name: 'hostile',
  })),
  updateBotUser: writing(
    'PATCH /bot_users/{id}',
    'updateBotUser',
    { name: 'string', active: 'boolean' },
    none,
    the('bot'),
  ),
  createDomain: writing(
    'POST /reserved_domains',
    'createReservedDomain',
    { domain: 'string', region: 'string', ...domain },
    () => ({ domain: 'hostile.example.com' }),
  ),
  updateDomain: writing('PATCH /reserved_domains/{id}', 'updateReservedDomain', domain, none, the('domain')),
  createBackend: writing(
    'POST /backends/tunnel_group',
    'createTunnelGroupBackend',
    { ...texts, labels: 'labels' },
    () => ({
      labels: { app: 'hostile' },
    }),
  ),
  updateBackend: writing(
    'PATCH /backends/tunnel_group/{id}',
    'updateTunnelGroupBackend',
    { ...texts, labels: 'labels' },
    none,
    the('backend'),
  ),
  createDestination: writing('POST /event_destinations', 'createEventDestination', destination, () => ({
    target: { datadog: parts.datadog },
  })),
  updateDestination: writing(
    'PATCH /event_destinations/{id}',
    'updateEventDestination',
    destination,
    none,
    the('destination'),
  ),
  createSubscription: writing('POST /event_subscriptions', 'createEventSubscription', subscription),
  updateSubscription: writing(
    'PATCH /event_subscriptions/{id}',
    'updateEventSubscription',
    subscription,
    none,
    the('subscription'),
  ),
  createSource: writing(
    'POST /event_subscriptions/{subscription_id}/sources',
    'createEventSource',
    source,
    () => ({ type: 'user_created.v0' }),
    ({ ids }) => ({ subscription_id: ids.subscription }),
  ),
  updateSource: writing(
    'PATCH /event_subscriptions/{subscription_id}/sources/{type}',
    'updateEventSource',
    source,
    none,
    ({ ids }) => ({ subscription_id: ids.subscription, type: 'domain_created.v0' }),
  ),
  updateSession: writing(
    'POST /tunnel_sessions/{id}/update',
    'updateTunnelSession',
    { version: 'string', permit_major_version: 'boolean' },
    none,
    the('session'),
  ),
  createCloudEndpoint: writing('POST /cloud_endpoints', 'createCloudEndpoint', cloudEndpoint, () => ({
    url: 'https://hostile.world.example.com',
  })),
  createHttpsEdge: writing('POST /edges/https', 'createHttpsEdge', httpsEdge),
  updateHttpsEdge: writing('PATCH /edges/https/{id}', 'updateHttpsEdge', httpsEdge, none, the('httpsEdge')),
  createTlsEdge: writing('POST /edges/tls', 'createTlsEdge', tlsEdge),
  updateTlsEdge: writing('PATCH /edges/tls/{id}', 'updateTlsEdge', tlsEdge, none, the('tlsEdge')),
  createTcpEdge: writing('POST /edges/tcp', 'createTcpEdge', tcpEdge),
  updateTcpEdge: writing('PATCH /edges/tcp/{id}', 'updateTcpEdge', tcpEdge, none, the('tcpEdge')),
  createRoute: writing(
    `POST ${routePath}`,
    'createHttpsEdgeRoute',
    route,
    () => ({ match_type: 'exact_path', match: '/hostile' }),
    ofEdge,
  ),
  updateRoute: writing(`PATCH ${routePath}/{id}`, 'updateHttpsEdgeRoute', route, none, theRoute),
  putBreaker: writing(
    `PUT ${routePath}/{id}/circuit_breaker`,
    'replaceHttpsEdgeRouteCircuitBreaker',
    breaker(),
    none,
    theRoute,
  ),
  putRouteBackend: writing(
    `PUT ${routePath}/{id}/backend`,
    'replaceHttpsEdgeRouteBackend',
    backend(),
    withBackend,
    theRoute,
  ),
  putTlsBackend: writing(
    'PUT /edges/tls/{id}/backend',
    'replaceTlsEdgeBackend',
    backend(),
    withBackend,
    the('tlsEdge'),
  ),
  putTcpBackend: writing(
    'PUT /edges/tcp/{id}/backend',
    'replaceTcpEdgeBackend',
    backend(),
    withBackend,
    the('tcpEdge'),
  ),
  putTlsMutualTls: writing(
    'PUT /edges/tls/{id}/mutual_tls',
    'replaceTlsEdgeMutualTls',
    mutualTls(),
    withAuthority,
    the('tlsEdge'),
  ),
  putHttpsMutualTls: writing(
    'PUT /edges/https/{id}/mutual_tls',
    'replaceHttpsEdgeMutualTls',
    mutualTls(),
    withAuthority,
    the('httpsEdge'),
  ),
};

export type WritingName = keyof typeof writings;
