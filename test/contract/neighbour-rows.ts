// What is needed to use the documented operations, and is beside them in the API.

import * as expected from './expected.ts';
import { fresh, type Row, row, unique } from './rows.ts';
import { edgeShapes, shapes } from './shapes.ts';
import type { World } from './world.ts';

const texts = { description: 'sensor 7 – Küche', metadata: '{"rack":7}' };
const first = (got: Record<string, unknown[]>, key: string) => got[key]?.[0];
// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
type Make = (world: World, got: any, own: any) => object;

interface Kind {
  path: string;
  /** GraphQL's name of one and of many. */
  single: string;
  plural: string;
  /** The member of the list that holds the objects. */
  key: string;
  shape: string;
  make: Make;
  /** A body to create one with, and what of it is shown. */
  body(world: World, door: string): object;
  shown(world: World, door: string): object;
  /** What only the answer to the creation shows. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
  onCreation?(got: any): object;
  /** What to change, and what of it is shown. */
  change: object;
  changed?: object;
  /** What the world has of it, the newest first. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
  listed(world: World, got: any[]): object[];
}

/** Create, get, list, update and delete of one kind of object. */
function crud(kind: Kind): Row[] {
  const { path, single, plural, key, shape, make, body, shown, onCreation, change, changed = change, listed } = kind;
  const capital = single.charAt(0).toUpperCase() + single.slice(1);
  const own = (world: World, door: string) => fresh(path, body(world, unique(door)))(world);
  return [
    row(`POST ${path}`, 201, `create${capital}`, {
      shape,
      body,
      answer: (world, got, door) => make(world, got, { ...shown(world, door), ...onCreation?.(got) }),
    }),
    row(`GET ${path}`, 200, plural, {
      shape,
      list: key,
      answer: (world, got) => expected.list(world, key, path, listed(world, got[key])),
    }),
    row(`GET ${path}/{id}`, 200, single, {
      shape,
      at: (world) => own(world, `${key}-get`),
      answer: (world, got, _, { id }) => ({ ...make(world, got, shown(world, '')), ...uniques(got, kind), id }),
    }),
    row(`PATCH ${path}/{id}`, 200, `update${capital}`, {
      shape,
      at: (world) => own(world, `${key}-patch`),
      body: () => change,
      answer: (world, got, _, { id }) => ({
        ...make(world, got, shown(world, '')),
        ...uniques(got, kind),
        ...changed,
        id,
      }),
    }),
    row(`DELETE ${path}/{id}`, 204, `delete${capital}`, { at: (world) => own(world, `${key}-delete`) }),
  ];
}

/** Members that had to be unique, which the request made up: their form was looked at when it was created. */
// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
function uniques(got: any, { single }: Kind): object {
  if (single === 'botUser') return { name: got.name };
  if (single === 'reservedDomain') return { domain: got.domain };
  return {};
}

const withTexts = { body: () => texts, shown: () => texts, change: { description: 'changed' } };

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
    path: '/certificate_authorities',
    single: 'certificateAuthority',
    plural: 'certificateAuthorities',
    key: 'certificate_authorities',
    shape: shapes.authority,
    make: expected.authority,
    body: ({ caPem }) => ({ ca_pem: caPem, ...texts }),
    shown: () => texts,
    change: { description: 'changed' },
    listed: (world, got) => [expected.authority(world, got[0], { id: world.ids.authority })],
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
      types: ['api_key_deleted.v0', 'user_created.v0'],
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
];

export const crudRows = kinds.flatMap(crud);
