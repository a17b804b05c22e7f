// The neighbours that are not created, read, listed, changed and deleted like most: routes, live objects, and
// modules the specification does not name.

import type { Ids } from '../doors.ts';
import * as expected from '../expected.ts';
import { edgeShapes, shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { anyRoute, fresh, freshRoute, type Row, row, the } from './rows.ts';

export const routePath = '/edges/https/{edge_id}/routes';
const freshEdge = async (world: World) => ({ edge_id: (await fresh('/edges/https', {})(world)).id });

const routes: Row[] = [
  row(`POST ${routePath}`, 201, 'createHttpsEdgeRoute', {
    shape: edgeShapes.route,
    at: freshEdge,
    body: ({ ids }, door) => ({
      ...{ match_type: 'exact_path', match: `/${door}`, description: 'shop' },
      backend: { backend_id: ids.backend, enabled: false },
      circuit_breaker: {},
    }),
    answer: (world, got, door, { edge_id = '' }) =>
      expected.route(world, edge_id, got, {
        ...{ match_type: 'exact_path', match: `/${door}`, description: 'shop' },
        backend: expected.backendModule(world, false),
        circuit_breaker: expected.circuitBreaker,
      }),
  }),
  row(`GET ${routePath}/{id}`, 200, 'httpsEdgeRoute', {
    shape: edgeShapes.route,
    at: freshRoute(),
    answer: (world, got, _, { edge_id = '', id }) =>
      expected.route(world, edge_id, got, { id, match_type: 'path_prefix', match: '/' }),
  }),
  row(`PATCH ${routePath}/{id}`, 200, 'updateHttpsEdgeRoute', {
    shape: edgeShapes.route,
    at: freshRoute(({ ids }) => ({ backend: { backend_id: ids.backend } })),
    body: () => ({ match: '/api', metadata: 'm' }),
    answer: (world, got, _, { edge_id = '', id }) =>
      expected.route(world, edge_id, got, {
        ...{ id, match_type: 'path_prefix', match: '/api', metadata: 'm' },
        backend: expected.backendModule(world),
      }),
  }),
  row(`DELETE ${routePath}/{id}`, 204, 'deleteHttpsEdgeRoute', { at: freshRoute() }),
];

interface Settings {
  path: string;
  /** GraphQL's name of the module on its host. */
  name: string;
  shape: string;
  at(settings?: (world: World) => object): Row['at'];
  member: string;
  body(world: World): object;
  answer(world: World): unknown;
  /** What only the answer to the PUT shows. */
  shown?: object;
}

/** Set, read and unset of one module. */
export function moduleRows({ path, name, shape, at, member, body, answer, shown = {} }: Settings): Row[] {
  const set = at((world) => ({ [member]: body(world) }));
  let read: Ids | undefined; // What the GET read is there for the first DELETE.
  const kept: Row['at'] = async (world) => {
    read = await set(world);
    return read;
  };
  const taken: Row['at'] = async (world) => {
    const ids = read ?? (await set(world));
    read = undefined;
    return ids;
  };
  return [
    row(`PUT ${path}`, 200, `replace${name.charAt(0).toUpperCase()}${name.slice(1)}`, {
      shape,
      at: at(),
      body,
      answer: (world) => ({ ...(answer(world) as object), ...shown }),
    }),
    row(`GET ${path}`, 200, name, { shape, at: kept, answer }),
    row(`DELETE ${path}`, 204, `delete${name.charAt(0).toUpperCase()}${name.slice(1)}`, { at: taken }),
  ];
}

export const edge =
  (path: string) =>
  (settings: (world: World) => object = () => ({})) =>
    fresh(path, settings);
const backend = {
  ...{ shape: shapes.backendModule, member: 'backend' },
  body: ({ ids }: World) => ({ enabled: false, backend_id: ids.backend }),
  answer: (world: World) => expected.backendModule(world, false),
};

const modules: Row[] = [
  { ...backend, path: `${routePath}/{id}/backend`, name: 'httpsEdgeRouteBackend', at: anyRoute },
  { ...backend, path: '/edges/tls/{id}/backend', name: 'tlsEdgeBackend', at: edge('/edges/tls') },
  { ...backend, path: '/edges/tcp/{id}/backend', name: 'tcpEdgeBackend', at: edge('/edges/tcp') },
  {
    ...{ path: '/edges/https/{id}/mutual_tls', name: 'httpsEdgeMutualTls', member: 'mutual_tls' },
    shape: shapes.mutualTls,
    at: edge('/edges/https'),
    body: ({ ids }: World) => ({ enabled: false, certificate_authority_ids: [ids.authority] }),
    answer: (world: World) => expected.mutualTls(world, false),
  },
].flatMap(moduleRows);

const live: Row[] = [
  row('GET /tunnels', 200, 'tunnels', {
    shape: shapes.tunnel,
    list: 'tunnels',
    answer: (world) =>
      expected.list(world, 'tunnels', '/tunnels', [expected.labelTunnel(world), expected.tunnel(world)]),
  }),
  row('GET /tunnels/{id}', 200, 'tunnel', {
    note: 'with an address',
    shape: shapes.tunnel,
    at: the('tunnel'),
    answer: (world) => expected.tunnel(world),
  }),
  row('GET /tunnels/{id}', 200, 'tunnel', {
    note: 'with labels',
    shape: shapes.tunnel,
    at: the('labelTunnel'),
    answer: (world) => expected.labelTunnel(world),
  }),
  row('GET /tunnel_sessions', 200, 'tunnelSessions', {
    shape: shapes.session,
    list: 'tunnel_sessions',
    answer: (world) => expected.list(world, 'tunnel_sessions', '/tunnel_sessions', [expected.session(world)]),
  }),
  row('GET /tunnel_sessions/{id}', 200, 'tunnelSession', {
    shape: shapes.session,
    at: the('session'),
    answer: (world) => expected.session(world),
  }),
  ...['restart', 'stop', 'update'].map((command) =>
    row(`POST /tunnel_sessions/{id}/${command}`, 204, `${command}TunnelSession`, { at: the('session') }),
  ),
  row('POST /tunnel_sessions/{id}/update', 204, 'updateTunnelSession', {
    note: 'everything given',
    at: the('session'),
    body: () => ({ version: '3.2.0', permit_major_version: true }),
  }),
];

export const otherRows = [...routes, ...modules, ...live];
