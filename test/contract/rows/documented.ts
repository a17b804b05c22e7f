// Section 4 of the specification, operation by operation.

import * as expected from '../expected.ts';
import { destinationWith, extendedEndpoint, shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { anyRoute, fresh, type Row, row, the } from './rows.ts';
import { examples } from './targets.ts';

const { credential, destination, tokenOf } = expected;

const credentials: Row[] = [
  row('POST /credentials', 201, 'createCredential', {
    note: 'nothing given',
    shape: shapes.credential,
    body: () => ({}),
    answer: (world, got) => credential(world, got, { token: tokenOf(got.id) }),
  }),
  row('POST /credentials', 201, 'createCredential', {
    note: 'everything given',
    shape: shapes.credential,
    body: (world) => ({ ...texts, acl, owner_id: world.ids.bot }),
    answer: (world, got) => credential(world, got, { ...texts, acl, owner_id: world.ids.bot, token: tokenOf(got.id) }),
  }),
  row('GET /credentials/{id}', 200, 'credential', {
    shape: shapes.credential,
    at: the('credential'),
    answer: (world, got) => credential(world, got, { id: world.ids.credential, description: 'agent of the world' }),
  }),
  row('GET /credentials', 200, 'credentials', {
    shape: shapes.credential,
    list: 'credentials',
    answer: (world, got) =>
      expected.list(world, 'credentials', '/credentials', [
        credential(world, got.credentials[0], { id: world.ids.credential, description: 'agent of the world' }),
      ]),
  }),
  row('PATCH /credentials/{id}', 200, 'updateCredential', {
    shape: shapes.credential,
    at: fresh('/credentials', { metadata: 'kept' }),
    body: () => ({ description: 'changed', acl }),
    answer: (world, got, _, { id }) => credential(world, got, { id, description: 'changed', metadata: 'kept', acl }),
  }),
  row('DELETE /credentials/{id}', 204, 'deleteCredential', { at: fresh('/credentials', {}) }),
];

const texts = { description: 'sensor 7 – Küche', metadata: '{"rack":7}' };
const acl = [
  'bind:example.com',
  'bind:*.example.com',
  'bind:1.example.com:20000',
  'bind:app=shop',
  'bind:*=*',
  'bind:*',
  '*',
];

const endpoints: Row[] = [
  row('GET /endpoints', 200, 'endpoints', {
    shape: shapes.endpoint,
    list: 'endpoints',
    answer: (world) => expected.list(world, 'endpoints', '/endpoints', [expected.endpoint(world)]),
  }),
  row('GET /endpoints/{id}', 200, 'endpoint', {
    shape: shapes.endpoint,
    at: the('endpoint'),
    answer: (world) => expected.endpoint(world),
  }),
  row('GET /endpoints', 200, 'endpoints', {
    ...{ dialect: 'extended', shape: extendedEndpoint, list: 'endpoints' },
    answer: (world) => expected.list(world, 'endpoints', '/endpoints', [expected.extendedEndpoint(world)]),
  }),
  row('GET /endpoints/{id}', 200, 'endpoint', {
    ...{ dialect: 'extended', shape: extendedEndpoint, at: the('endpoint') },
    answer: (world) => expected.extendedEndpoint(world),
  }),
];

const policy = '{"on_http_request":[{"actions":[{"type":"deny"}]}]}';
let clouds = 0;
const cloudUrl = () => `https://cloud-${++clouds}.world.example.com`;
const freshCloud = (world: World) =>
  fresh('/cloud_endpoints', { url: cloudUrl(), ...texts, traffic_policy: policy })(world);
const created = { ...texts, traffic_policy: policy };
const changed = { ...texts, description: 'changed' };
const cloud = { shape: shapes.cloudEndpoint, aliasOf: '/endpoints' };
const amongEndpoints = { dialect: 'extended', shape: extendedEndpoint } as const;

const cloudEndpoints: Row[] = [
  row('GET /cloud_endpoints', 200, 'cloudEndpoints', {
    ...{ ...cloud, list: 'cloud_endpoints' },
    answer: (world) => expected.list(world, 'cloud_endpoints', '/cloud_endpoints', []),
  }),
  row('GET /cloud_endpoints/{id}', 200, 'cloudEndpoint', {
    ...{ ...cloud, at: freshCloud },
    answer: (world, got) => expected.cloudEndpoint(world, got, created),
  }),
  row('POST /cloud_endpoints', 201, 'createCloudEndpoint', {
    ...cloud,
    body: () => ({ url: cloudUrl(), ...texts, traffic_policy: policy }),
    answer: (world, got) => expected.cloudEndpoint(world, got, created),
  }),
  row('PATCH /cloud_endpoints/{id}', 200, 'updateCloudEndpoint', {
    ...{ ...cloud, at: freshCloud },
    body: () => ({ description: 'changed', traffic_policy: '' }),
    answer: (world, got) => expected.cloudEndpoint(world, got, changed),
  }),
  row('DELETE /cloud_endpoints/{id}', 204, 'deleteCloudEndpoint', { at: freshCloud }),
  row('POST /endpoints', 201, 'createCloudEndpoint', {
    ...amongEndpoints,
    body: () => ({ url: cloudUrl(), ...texts, traffic_policy: policy }),
    answer: (world, got) => expected.cloudAmongEndpoints(world, got, created),
  }),
  row('PATCH /endpoints/{id}', 200, 'updateCloudEndpoint', {
    ...{ ...amongEndpoints, at: freshCloud },
    body: () => ({ description: 'changed', traffic_policy: '' }),
    answer: (world, got) => expected.cloudAmongEndpoints(world, got, changed),
  }),
  row('DELETE /endpoints/{id}', 204, 'deleteCloudEndpoint', { dialect: 'extended', at: freshCloud }),
];

const breakerPath = '/edges/https/{edge_id}/routes/{id}/circuit_breaker';
const breaker = {
  enabled: false,
  tripped_duration: 1,
  rolling_window: 4294967295,
  num_buckets: 128,
  volume_threshold: 0,
  error_threshold_percentage: 0.25,
};
const withBreaker = anyRoute(() => ({ circuit_breaker: breaker }));

const circuitBreaker: Row[] = [
  row(`PUT ${breakerPath}`, 200, 'replaceHttpsEdgeRouteCircuitBreaker', {
    note: 'everything given',
    shape: shapes.circuitBreaker,
    at: anyRoute(),
    body: () => breaker,
    answer: () => breaker,
  }),
  row(`PUT ${breakerPath}`, 200, 'replaceHttpsEdgeRouteCircuitBreaker', {
    note: 'nothing given: what was set before is gone',
    shape: shapes.circuitBreaker,
    at: withBreaker,
    body: () => ({}),
    answer: () => expected.circuitBreaker,
  }),
  row(`GET ${breakerPath}`, 200, 'httpsEdgeRouteCircuitBreaker', {
    shape: shapes.circuitBreaker,
    at: withBreaker,
    answer: () => breaker,
  }),
  row(`DELETE ${breakerPath}`, 204, 'deleteHttpsEdgeRouteCircuitBreaker', { at: withBreaker }),
];

const withMutualTls = fresh('/edges/tls', ({ ids }) => ({
  mutual_tls: { enabled: false, certificate_authority_ids: [ids.authority] },
}));

const mutualTls: Row[] = [
  row('PUT /edges/tls/{id}/mutual_tls', 200, 'replaceTlsEdgeMutualTls', {
    note: 'enabled left out',
    shape: shapes.mutualTls,
    at: withMutualTls,
    body: ({ ids }) => ({ certificate_authority_ids: [ids.authority] }),
    answer: (world) => expected.mutualTls(world),
  }),
  row('GET /edges/tls/{id}/mutual_tls', 200, 'tlsEdgeMutualTls', {
    shape: shapes.mutualTls,
    at: withMutualTls,
    answer: (world) => expected.mutualTls(world, false),
  }),
  row('DELETE /edges/tls/{id}/mutual_tls', 204, 'deleteTlsEdgeMutualTls', { at: withMutualTls }),
];

const destinations: Row[] = Object.entries(examples).flatMap(([note, { sent, created, later, addition }]) => {
  const shape = destinationWith(addition);
  return [
    row('POST /event_destinations', 201, 'createEventDestination', {
      note,
      shape,
      body: () => ({ ...texts, format: 'json', target: sent }),
      answer: (world, got) => destination(world, got, { ...texts, target: created }),
    }),
    row('GET /event_destinations/{id}', 200, 'eventDestination', {
      note,
      shape,
      at: fresh('/event_destinations', { target: sent }),
      answer: (world, got, _, { id }) => destination(world, got, { id, target: later }),
    }),
    row('PATCH /event_destinations/{id}', 200, 'updateEventDestination', {
      note: `${note}, from another kind`,
      shape,
      at: fresh('/event_destinations', { ...texts, target: { datadog: { api_key: 'other', ddsite: 'datadoghq.eu' } } }),
      body: () => ({ description: '', format: 'json', target: sent }),
      answer: (world, got, _, { id }) => destination(world, got, { ...texts, id, description: '', target: later }),
    }),
  ];
});

const datadog = examples.datadog?.later;

destinations.push(
  row('GET /event_destinations', 200, 'eventDestinations', {
    shape: shapes.destination,
    list: 'event_destinations',
    answer: (world, got) =>
      expected.list(world, 'event_destinations', '/event_destinations', [
        destination(world, got.event_destinations[0], { id: world.ids.destination, target: datadog }),
      ]),
  }),
  row('DELETE /event_destinations/{id}', 204, 'deleteEventDestination', {
    at: fresh('/event_destinations', { target: { datadog: { api_key: 'other' } } }),
  }),
);

const others: Row[] = [
  row('POST /bot_users', 201, 'createBotUser', {
    shape: shapes.bot,
    body: (_, door) => ({ name: `robot by ${door}` }),
    answer: (world, got, door) => expected.bot(world, got, { name: `robot by ${door}` }),
  }),
  row('POST /reserved_domains', 201, 'createReservedDomain', {
    note: 'a name',
    shape: shapes.domain,
    body: (_, door) => ({ domain: `${door}.documented.example.com`, region: 'us' }),
    answer: (world, got, door) =>
      expected.domain(world, got, { domain: `${door}.documented.example.com`, region: 'us' }),
  }),
  row('POST /reserved_domains', 201, 'createReservedDomain', {
    note: 'a wildcard',
    shape: shapes.domain,
    body: (_, door) => ({ domain: `*.${door}.wild.example.com`, region: '' }),
    answer: (world, got, door) => expected.domain(world, got, { domain: `*.${door}.wild.example.com` }),
  }),
];

/** Every operation of sections 4.1 to 4.7. */
export const documentedRows = [
  ...credentials,
  ...endpoints,
  ...cloudEndpoints,
  ...circuitBreaker,
  ...mutualTls,
  ...destinations,
  ...others,
];
