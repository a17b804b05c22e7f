// Reads the rows of an edge, and makes the configuration of the data plane from them.

import type {
  BackendConfig,
  BackendNode,
  CloudAddress,
  EdgeConfig,
  HttpsEdgeConfig,
  RouteConfig,
} from '../../edge/edges/edge-config.ts';
import type { ModuleDescriptor } from '../../edge/modules/descriptor.ts';
import type { Proto } from '../../tunnel/endpoints/endpoint.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Keys } from '../keys/keys.ts';
import { choiceOf } from './backend-nodes.ts';
import { openModules } from './module-rows.ts';

const inOrder = { orderBy: { position: 'asc' } } as const;

const common = {
  id: true,
  accountId: true,
  backendEnabled: true,
  backend: { select: { id: true, kind: true, labels: true } },
  ipPolicies: { select: { policyId: true }, ...inOrder },
  modules: true,
} as const;

/** The columns of an edge, and of its relations, that are read. */
export const edgeSelect = {
  ...common,
  kind: true,
  hostports: { select: { hostport: true }, ...inOrder },
  cloudUrl: { select: { proto: true, hostname: true, port: true, pooling: true } },
  endpoints: { select: { id: true, hostport: true } },
  authorities: { select: { authority: { select: { id: true, caPem: true } } }, ...inOrder },
  routes: {
    select: {
      ...common,
      matchType: true,
      match: true,
    },
    orderBy: { id: 'asc' },
  },
} as const;

type EdgeRow = Prisma.EdgeGetPayload<{ select: typeof edgeSelect }>;
type RouteRow = EdgeRow['routes'][number];

/** The networks of an IP policy. */
export interface PolicyRules {
  allow: string[];
  deny: string[];
}

/** The ids of the IP policies of an edge and its routes. */
export function policyIdsOf({ ipPolicies, routes }: EdgeRow): string[] {
  return [ipPolicies, ...routes.map((route) => route.ipPolicies)].flat().map(({ policyId }) => policyId);
}

/** The ids of the backends of an edge and its routes that are no tunnel groups. */
export function choosingBackendsOf({ backend, routes }: EdgeRow): string[] {
  return [backend, ...routes.map((route) => route.backend)].flatMap((one) =>
    one && one.kind !== 'TUNNEL_GROUP' ? one.id : [],
  );
}

/** What the configuration of an edge is made with, besides its rows. */
interface EdgeConfigInputs {
  policies: ReadonlyMap<string, PolicyRules>;
  /** All backends that those of `choosingBackendsOf` lead to. */
  backends: ReadonlyMap<string, BackendNode>;
  keys: Keys;
  descriptors: readonly ModuleDescriptor[];
}

export function edgeConfig(row: EdgeRow, inputs: EdgeConfigInputs): EdgeConfig {
  const { id, accountId, endpoints } = row;
  const ids = new Map(endpoints.map((endpoint) => [endpoint.hostport, endpoint.id]));
  const shared = {
    id,
    accountId,
    names: row.hostports.map(({ hostport }) => ({
      hostname: hostport.slice(0, hostport.lastIndexOf(':')),
      port: Number(hostport.slice(hostport.lastIndexOf(':') + 1)),
      endpointId: ids.get(hostport) ?? '',
    })),
    ...modulesOf('edge', row, inputs),
  };
  if (row.kind === 'CLOUD') return cloudConfig(shared, row);
  if (row.kind === 'HTTPS') return { ...shared, kind: 'https', routes: row.routes.map((r) => routeConfig(r, inputs)) };
  return { ...shared, kind: row.kind === 'TCP' ? 'tcp' : 'tls', backend: backendOf(row, inputs) };
}

/** A cloud endpoint is an HTTPS edge with one route, which leads nowhere, or an edge of TLS or TCP without a backend. */
function cloudConfig(common: Omit<HttpsEdgeConfig, 'kind' | 'routes'>, { cloudUrl, endpoints }: EdgeRow): EdgeConfig {
  const shared = { ...common, ...(cloudUrl && { cloud: cloudAddress(cloudUrl, endpoints[0]?.id ?? '') }) };
  const proto = shared.cloud?.proto;
  return proto === 'tls' || proto === 'tcp' ? { ...shared, kind: proto, backend: undefined } : answeringConfig(shared);
}

function cloudAddress({ pooling, ...url }: NonNullable<EdgeRow['cloudUrl']>, endpointId: string): CloudAddress {
  return { ...url, proto: url.proto as Proto, endpointId, isPooled: pooling };
}

function answeringConfig({ modules, failure, ...shared }: Omit<HttpsEdgeConfig, 'kind' | 'routes'>): HttpsEdgeConfig {
  const matchesAll = { matchType: 'path_prefix', match: '/' } as const;
  const route = { id: shared.id, ...matchesAll, backend: undefined, isCloud: true, modules };
  return { ...shared, kind: 'https', modules: {}, routes: [failure === undefined ? route : { ...route, failure }] };
}

function routeConfig(row: RouteRow, inputs: EdgeConfigInputs): RouteConfig {
  const { id, match } = row;
  const matchType = row.matchType === 'EXACT_PATH' ? 'exact_path' : 'path_prefix';
  return { id, matchType, match, backend: backendOf(row, inputs), ...modulesOf('route', row, inputs) };
}

function modulesOf(
  table: 'route' | 'edge',
  row: EdgeRow | RouteRow,
  { policies, keys, descriptors }: EdgeConfigInputs,
) {
  const { id, accountId } = row;
  const ipPolicies = row.ipPolicies.flatMap(({ policyId }) => policies.get(policyId) ?? []);
  const authorities = 'authorities' in row ? row.authorities.map(({ authority }) => authority) : [];
  return openModules(keys, { table, id, accountId }, row, descriptors, {
    ipPolicies,
    authorities: authorities.map(({ id, caPem }) => ({ id, pem: caPem })),
  });
}

function backendOf(
  { backendEnabled, backend }: EdgeRow | RouteRow,
  { backends }: EdgeConfigInputs,
): BackendConfig | undefined {
  if (backendEnabled === null || !backend) return undefined;
  const group = { enabled: backendEnabled, labels: backend.labels as Record<string, string> };
  return backend.kind === 'TUNNEL_GROUP' ? group : { ...group, choice: choiceOf(backend.id, backends) };
}
