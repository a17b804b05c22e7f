// What is needed to use the documented operations, and is beside them in the API.

import * as expected from '../expected.ts';
import { edgeShapes, shapes } from '../shapes.ts';
import { crud, type Kind, texts, withTexts } from './crud.ts';
import { fresh, row, the, unique } from './rows.ts';

const first = (got: Record<string, unknown[]>, key: string) => got[key]?.[0];

const kinds: Kind[] = [
  {
    ...{ path: '/api_keys', single: 'apiKey', plural: 'apiKeys', key: 'keys' },
    shape: shapes.apiKey,
    make: expected.apiKey,
    ...withTexts,
    onCreation: ({ id }) => ({ token: expected.tokenOf(id) }),
    listed: (world, got) => [
      expected.apiKey(world, got[0], { id: world.ids.apiKey, description: 'key of the world' }),
      expected.apiKey(world, got[1], { description: 'key of a test' }),
    ],
  },
  {
    ...{ path: '/bot_users', single: 'botUser', plural: 'botUsers', key: 'bot_users' },
    shape: shapes.bot,
    make: expected.bot,
    body: (_, door) => ({ name: `neighbour ${door}`, active: false }),
    shown: (_, door) => ({ name: `neighbour ${door}`, active: false }),
    change: { active: true },
    listed: (world, got) => [expected.bot(world, got[0], { id: world.ids.bot, name: 'bot of the world' })],
  },
  {
    ...{ path: '/reserved_domains', single: 'reservedDomain', plural: 'reservedDomains', key: 'reserved_domains' },
    shape: shapes.domain,
    make: expected.domain,
    body: (_, door) => ({ domain: `${door.replaceAll('_', '-')}.neighbour.example.com`, ...texts }),
    shown: (_, door) => ({ domain: `${door.replaceAll('_', '-')}.neighbour.example.com`, ...texts }),
    change: { metadata: 'changed' },
    listed: (world, got) => [expected.domain(world, got[0], { domain: '*.world.example.com', region: 'us' })],
  },
  {
    ...{ path: '/reserved_addrs', single: 'reservedAddress', plural: 'reservedAddresses', key: 'reserved_addrs' },
    shape: shapes.reservedAddress,
    make: expected.reservedAddress,
    body: () => ({ ...texts, region: 'eu' }),
    shown: () => ({ ...texts, region: 'eu' }),
    change: { metadata: 'changed' },
    listed: (world, got) => [expected.reservedAddress(world, got[0], { id: world.ids.address, region: 'us' })],
  },
  {
    ...{ path: '/backends/tunnel_group', single: 'tunnelGroupBackend', plural: 'tunnelGroupBackends', key: 'backends' },
    shape: shapes.backend,
    make: expected.backend,
    body: () => ({ ...texts, labels: { some_word: 'x', otherWord: 'y' } }),
    shown: () => ({ ...texts, labels: { some_word: 'x', otherWord: 'y' } }),
    change: { labels: { just: 'this' } },
    listed: (world, got) => [
      expected.backend(world, got[0], {
        labels: { app: 'shop' },
        tunnels: [expected.refTo(world, '/tunnels', world.ids.labelTunnel)],
      }),
    ],
  },
  {
    path: '/event_subscriptions',
    single: 'eventSubscription',
    plural: 'eventSubscriptions',
    key: 'event_subscriptions',
    shape: shapes.subscription,
    make: expected.subscription,
    body: ({ ids }) => ({
      ...texts,
      sources: [{ type: 'user_created.v0' }, { type: 'api_key_deleted.v0' }],
      destination_ids: [ids.destination],
    }),
    shown: (world) => ({
      ...texts,
      types: ['user_created.v0', 'api_key_deleted.v0'],
      destinations: [expected.refTo(world, '/event_destinations', world.ids.destination)],
    }),
    change: { destination_ids: [] },
    changed: { destinations: [] },
    listed: (world, got) => [
      expected.subscription(world, got[0], {
        types: ['domain_created.v0'],
        destinations: [expected.refTo(world, '/event_destinations', world.ids.destination)],
      }),
    ],
  },
  {
    ...{ path: '/edges/https', single: 'httpsEdge', plural: 'httpsEdges', key: 'https_edges' },
    shape: edgeShapes.httpsEdge,
    make: expected.httpsEdge,
    body: ({ ids }) => ({ ...texts, mutual_tls: { certificate_authority_ids: [ids.authority] } }),
    shown: (world) => ({ ...texts, mutual_tls: expected.mutualTls(world) }),
    change: { description: 'changed' },
    listed: (world, got) => [
      expected.httpsEdge(world, got[0], {
        hostports: ['www.world.example.com:443'],
        routes: [
          expected.route(world, world.ids.httpsEdge, first(got[0], 'routes'), {
            match_type: 'path_prefix',
            match: '/',
          }),
        ],
      }),
    ],
  },
  {
    ...{ path: '/edges/tls', single: 'tlsEdge', plural: 'tlsEdges', key: 'tls_edges' },
    shape: edgeShapes.tlsEdge,
    make: expected.tlsEdge,
    body: ({ ids }) => ({ ...texts, backend: { backend_id: ids.backend } }),
    shown: (world) => ({ ...texts, backend: expected.backendModule(world) }),
    change: { metadata: '' },
    listed: (world, got) => [expected.tlsEdge(world, got[0], { hostports: ['tls.world.example.com:443'] })],
  },
  {
    ...{ path: '/edges/tcp', single: 'tcpEdge', plural: 'tcpEdges', key: 'tcp_edges' },
    shape: edgeShapes.tcpEdge,
    make: expected.tcpEdge,
    body: ({ ids }) => ({ ...texts, backend: { backend_id: ids.backend } }),
    shown: (world) => ({ ...texts, backend: expected.backendModule(world) }),
    change: { metadata: '' },
    listed: (world, got) => [expected.tcpEdge(world, got[0], { id: world.ids.tcpEdge })],
  },
];

/** The newer name of bot users: the same operations at other paths. GraphQL has the one name. */
const serviceUsers: Kind = {
  ...{ path: '/service_users', single: 'botUser', plural: 'botUsers', key: 'service_users' },
  ...{ shape: shapes.bot, make: expected.serviceUser },
  body: (_, door) => ({ name: `service ${door}` }),
  shown: (_, door) => ({ name: `service ${door}` }),
  change: { active: false },
  listed: (world, got) => [expected.serviceUser(world, got[0], { id: world.ids.bot, name: 'bot of the world' })],
};

/** What a bot user may do, which the specification has no member for. */
const rights = (path: string) => [
  row(`GET ${path}/{id}/rights`, 200, 'botUser', {
    ...{ at: the('bot'), shape: shapes.botRights },
    answer: () => ({ may_read_bodies: false }),
  }),
  row(`PATCH ${path}/{id}/rights`, 200, 'updateBotUserRights', {
    ...{ at: fresh('/bot_users', () => ({ name: unique('bot with a right') })), shape: shapes.botRights },
    body: () => ({ may_read_bodies: true }),
    answer: () => ({ may_read_bodies: true }),
  }),
];

export const crudRows = [
  ...rights('/bot_users'),
  ...rights('/service_users'),
  ...kinds.flatMap(crud),
  ...crud(serviceUsers).map((row) => ({ ...row, aliasOf: '/bot_users' })),
];
