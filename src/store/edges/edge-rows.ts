// The rows of an edge, and what the data plane is told of them.

import type { BackendConfig, EdgeConfig, RouteConfig } from '../../edge/edges/edge-config.ts';
import type { CircuitBreakerSettings } from '../../edge/modules/circuit-breaker.ts';
import type {
  BasicAuthSettings,
  HeaderSettings,
  HttpModuleSettings,
  IpRestrictionSettings,
  TlsTerminationSettings,
  UserAgentFilterSettings,
  WebhookVerificationSettings,
} from '../../edge/modules/settings.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Keys } from '../keys/keys.ts';
import { openModule } from './module-secrets.ts';
import { openPolicy, type PolicyOwner, type StoredPolicy } from './policy-secrets.ts';

const inOrder = { orderBy: { position: 'asc' } } as const;

const common = {
  id: true,
  accountId: true,
  backendEnabled: true,
  backend: { select: { labels: true } },
  ipRestriction: true,
  ipPolicies: { select: { policyId: true }, ...inOrder },
  trafficPolicy: true,
} as const;

/** What of an edge is read. */
export const edgeSelect = {
  ...common,
  kind: true,
  mutualTlsEnabled: true,
  tlsTermination: true,
  hostports: { select: { hostport: true }, ...inOrder },
  endpoints: { select: { id: true, hostport: true } },
  authorities: { select: { authority: { select: { id: true, caPem: true } } }, ...inOrder },
  routes: {
    select: {
      ...common,
      matchType: true,
      match: true,
      circuitBreaker: true,
      compression: true,
      requestHeaders: true,
      responseHeaders: true,
      webhookVerification: true,
      websocketTcpConverter: true,
      userAgentFilter: true,
      basicAuth: true,
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

/** The IP policies that an edge and its routes name. */
export function policyIdsOf({ ipPolicies, routes }: EdgeRow): string[] {
  return [ipPolicies, ...routes.map((route) => route.ipPolicies)].flat().map(({ policyId }) => policyId);
}

export function edgeConfig(row: EdgeRow, policies: ReadonlyMap<string, PolicyRules>, keys: Keys): EdgeConfig {
  const { id, accountId, mutualTlsEnabled, authorities, endpoints } = row;
  const ids = new Map(endpoints.map((endpoint) => [endpoint.hostport, endpoint.id]));
  const shared = {
    id,
    accountId,
    names: row.hostports.map(({ hostport }) => ({
      hostname: hostport.slice(0, hostport.lastIndexOf(':')),
      endpointId: ids.get(hostport) ?? '',
    })),
    mutualTls:
      mutualTlsEnabled === null
        ? undefined
        : {
            enabled: mutualTlsEnabled,
            authorities: authorities.map(({ authority }) => ({ id: authority.id, pem: authority.caPem })),
          },
    tlsTermination: stored<TlsTerminationSettings>(row.tlsTermination),
  };
  if (row.kind === 'HTTPS')
    return { ...shared, kind: 'https', routes: row.routes.map((route) => routeConfig(route, policies, keys)) };
  const config: EdgeConfig = {
    ...shared,
    kind: 'tls',
    backend: backendOf(row),
    modules: { ipRestriction: ipRestriction(row, policies) },
  };
  try {
    config.modules.trafficPolicy = policyOf('edge', row, keys);
  } catch (error) {
    config.failure = (error as Error).message;
  }
  return config;
}

function policyOf(table: PolicyOwner['table'], { id, accountId, trafficPolicy }: EdgeRow | RouteRow, keys: Keys) {
  const policy = stored<StoredPolicy>(trafficPolicy);
  return policy && openPolicy(keys, { table, id, accountId }, policy);
}

function routeConfig(row: RouteRow, policies: ReadonlyMap<string, PolicyRules>, keys: Keys): RouteConfig {
  const { id, match } = row;
  const modules: HttpModuleSettings = {
    ipRestriction: ipRestriction(row, policies),
    userAgentFilter: stored<UserAgentFilterSettings>(row.userAgentFilter),
    compression: stored<{ enabled: boolean }>(row.compression),
    requestHeaders: stored<HeaderSettings>(row.requestHeaders),
    responseHeaders: stored<HeaderSettings>(row.responseHeaders),
    circuitBreaker: stored<CircuitBreakerSettings>(row.circuitBreaker),
    websocketTcpConverter: stored<{ enabled: boolean }>(row.websocketTcpConverter),
  };
  const matchType = row.matchType === 'EXACT_PATH' ? 'exact_path' : 'path_prefix';
  const config: RouteConfig = { id, matchType, match, backend: backendOf(row), modules };
  try {
    const basicAuth = stored<BasicAuthSettings>(row.basicAuth);
    const webhook = stored<WebhookVerificationSettings>(row.webhookVerification);
    modules.trafficPolicy = policyOf('route', row, keys);
    if (basicAuth) modules.basicAuth = openModule(keys, row, basicAuth);
    if (webhook) modules.webhookVerification = openModule(keys, row, webhook);
  } catch (error) {
    config.failure = (error as Error).message;
  }
  return config;
}

/** What a module of the API wrote; it has checked it. */
function stored<T>(value: unknown): T | undefined {
  return (value ?? undefined) as T | undefined;
}

function backendOf({ backendEnabled, backend }: EdgeRow | RouteRow): BackendConfig | undefined {
  if (backendEnabled === null || !backend) return undefined;
  return { enabled: backendEnabled, labels: backend.labels as Record<string, string> };
}

/** Who any of the policies allows and none denies. */
function ipRestriction(
  { ipRestriction: enabled, ipPolicies }: EdgeRow | RouteRow,
  policies: ReadonlyMap<string, PolicyRules>,
): IpRestrictionSettings | undefined {
  if (enabled === null) return undefined;
  const rules = ipPolicies.flatMap(({ policyId }) => policies.get(policyId) ?? []);
  return { enabled, allow: rules.flatMap(({ allow }) => allow), deny: rules.flatMap(({ deny }) => deny) };
}
