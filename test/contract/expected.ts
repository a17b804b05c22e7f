// What each kind of object looks like in an answer, every member of it. What a test does not say has its default.

import { expect } from 'vitest';
import { common, idOf, type Json, refTo, time } from './expected-common.ts';
import type { World } from './world.ts';

export * from './expected-common.ts';
export * from './expected-edges.ts';

export const credential = (world: World, got: Json, own: object) => ({
  ...common(world, 'cr', '/credentials', got),
  token: null,
  acl: [],
  owner_id: world.account.ownerId,
  ...own,
});

export const apiKey = (world: World, got: Json, own: object) => ({
  ...common(world, 'ak', '/api_keys', got),
  token: null,
  owner_id: world.account.ownerId,
  scopes: [],
  expires_at: null,
  ...own,
});

export const endpoint = (world: World, own: object = {}) => ({
  id: world.ids.endpoint,
  ...{ region: 'eu', created_at: time, updated_at: time, proto: 'https' },
  public_url: 'https://app.world.example.com',
  hostport: 'app.world.example.com:443',
  type: 'ephemeral',
  metadata: 'of the tunnel',
  domain: refTo(world, '/reserved_domains', world.ids.domain),
  tcp_addr: null,
  tunnel: refTo(world, '/tunnels', world.ids.tunnel),
  edge: null,
  ...own,
});

/** The same for clients written for the original service. */
export const extendedEndpoint = (world: World, own: object = {}) => ({
  ...endpoint(world),
  uri: world.uri(`/endpoints/${world.ids.endpoint}`),
  ...{ url: 'https://app.world.example.com', scheme: 'https', host: 'app.world.example.com', port: 443 },
  description: '',
  principal: refTo(world, '/users', world.account.ownerId),
  ...{ bindings: ['public'], pooling_enabled: false, traffic_policy: '', upstream_url: 'http://localhost:3000' },
  ...{ upstream_protocol: '', name: '', tunnel_session: refTo(world, '/tunnel_sessions', world.ids.session) },
  ...own,
});

const cloudUrl = expect.stringMatching(/^https:\/\/cloud-\d+\.world\.example\.com(:\d+)?$/);
const cloudHost = expect.stringMatching(/^cloud-\d+\.world\.example\.com$/);

/** One at a name below the world's domain. */
export const cloudEndpoint = (world: World, got: Json, own: object) => ({
  id: idOf('ep'),
  uri: world.uri(`/cloud_endpoints/${got?.id}`),
  ...{ created_at: time, updated_at: time, url: cloudUrl, proto: 'https', type: 'cloud', name: '' },
  hostport: expect.stringMatching(/^cloud-\d+\.world\.example\.com:443$/),
  domain: refTo(world, '/reserved_domains', world.ids.domain),
  ...{ bindings: ['public'], pooling_enabled: false, traffic_policy: '' },
  ...own,
});

/** The same among all endpoints. */
export const cloudAmongEndpoints = (world: World, got: Json, own: object) =>
  extendedEndpoint(world, {
    id: idOf('ep'),
    uri: world.uri(`/endpoints/${got?.id}`),
    type: 'cloud',
    ...{ public_url: cloudUrl, url: cloudUrl, host: cloudHost, port: expect.any(Number) },
    ...{ hostport: `${got?.host}:443`, region: got?.region },
    ...{ tunnel: null, principal: null, metadata: '', upstream_url: '', tunnel_session: null },
    ...own,
  });

export const tunnel = (world: World, own: object = {}) => ({
  id: world.ids.tunnel,
  public_url: 'https://app.world.example.com',
  ...{ started_at: time, metadata: 'of the tunnel', proto: 'https', region: 'eu' },
  tunnel_session: refTo(world, '/tunnel_sessions', world.ids.session),
  endpoint: refTo(world, '/endpoints', world.ids.endpoint),
  labels: {},
  backends: [],
  forwards_to: 'http://localhost:3000',
  ...own,
});

/** The tunnel that backends choose by label; it has no address. */
export const labelTunnel = (world: World) =>
  tunnel(world, {
    id: world.ids.labelTunnel,
    public_url: null,
    proto: null,
    metadata: '',
    endpoint: null,
    labels: { app: 'shop', site: 'berlin' },
    backends: [refTo(world, '/backends/tunnel_group', world.ids.backend)],
    forwards_to: 'http://localhost:3001',
  });

export const session = (world: World) => ({
  id: world.ids.session,
  uri: world.uri(`/tunnel_sessions/${world.ids.session}`),
  agent_version: '3.1.0',
  credential: refTo(world, '/credentials', world.ids.credential),
  ip: '192.0.2.7',
  metadata: 'of the session',
  os: 'linux',
  region: 'eu',
  started_at: time,
  transport: 'muxado/2',
});

export const circuitBreaker = {
  enabled: true,
  tripped_duration: 10,
  rolling_window: 10,
  num_buckets: 10,
  volume_threshold: 20,
  error_threshold_percentage: 0.5,
};

export const mutualTls = (world: World, enabled = true) => ({
  enabled,
  certificate_authorities: [refTo(world, '/certificate_authorities', world.ids.authority)],
});

export const backendModule = (world: World, enabled = true) => ({
  enabled,
  backend: refTo(world, '/backends/tunnel_group', world.ids.backend),
});

export const destination = (world: World, got: Json, own: object) => ({
  ...common(world, 'ed', '/event_destinations', got),
  format: 'json',
  ...own,
});

export const bot = (world: World, got: Json, own: object) => ({
  id: idOf('bot'),
  uri: world.uri(`/bot_users/${got?.id}`),
  active: true,
  created_at: time,
  ...own,
});

/** The same by its newer name. */
export const serviceUser = (world: World, got: Json, own: object) => ({
  ...bot(world, got, own),
  uri: world.uri(`/service_users/${got?.id}`),
});

/** A name that is not under the gateway's own base domain. */
/** @param startedAt when a certificate began to be missing: since the domain is there, where nothing else is said. */
export const domain = (
  world: World,
  got: Json,
  own: { domain: string; region?: string },
  startedAt: unknown = got?.created_at,
) => ({
  ...common(world, 'rd', '/reserved_domains', got),
  region: '',
  cname_target: expect.stringMatching(/^[a-z0-9]+\.cname\.tunnel\.localhost$/),
  http_endpoint_configuration: null,
  https_endpoint_configuration: null,
  certificate: null,
  certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' },
  certificate_management_status: {
    renews_at: null,
    provisioning_job: {
      error_code: null,
      msg: expect.stringMatching(/obtains no certificates: its operator has not agreed.*upload one/),
      started_at: startedAt,
      retries_at: null,
    },
  },
  acme_challenge_cname_target: own.domain.startsWith('*.')
    ? expect.stringMatching(/^[a-z0-9]+\.acme[a-z0-9-]*\.tunnel\.localhost$/)
    : null,
  ...own,
});

export const authority = (world: World, got: Json, own: object) => ({
  ...common(world, 'ca', '/certificate_authorities', got),
  ca_pem: world.caPem,
  subject_common_name: 'Devices of the test',
  not_before: '2024-01-01T00:00:00Z',
  not_after: '2044-01-01T00:00:00Z',
  key_usages: ['cert_sign', 'crl_sign'],
  extended_key_usages: ['client_auth'],
  ...own,
});

export const backend = (world: World, got: Json, own: object) => ({
  ...common(world, 'bkdtg', '/backends/tunnel_group', got),
  tunnels: [],
  ...own,
});

export const subscription = (world: World, got: Json, own: { types?: string[]; destinations?: object[] }) => {
  const { types = [], destinations = [], ...others } = own;
  const sources = types.map((type) => source(world, got?.id, type));
  return { ...common(world, 'esb', '/event_subscriptions', got), sources, destinations, ...others };
};

export const source = (world: World, subscriptionId: string, type: string, own: object = {}) => ({
  type,
  fields: [],
  filter: '',
  sample_rate: 1,
  uri: world.uri(`/event_subscriptions/${subscriptionId}/sources/${type}`),
  ...own,
});

/** How delivery to a destination is going to which nothing was sent yet. */
export const delivery = (world: World, destinationId: string, own: object = {}) => ({
  destination_id: destinationId,
  state: 'ok',
  waiting_events: 0,
  waiting_bytes: 0,
  oldest_waiting_at: null,
  delivered_events: 0,
  dropped_events: 0,
  dead_letters: 0,
  attempts: 0,
  next_attempt_at: null,
  last_delivered_at: null,
  last_error: null,
  uri: world.uri(`/event_destinations/${destinationId}/delivery`),
  ...own,
});

export const reservedAddress = (world: World, got: Json, own: object) => ({
  ...common(world, 'ra', '/reserved_addrs', got),
  addr: expect.stringMatching(/^tunnel\.localhost:\d+$/),
  region: '',
  endpoint_configuration: null,
  ...own,
});
