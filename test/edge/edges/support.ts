// Edges as the control plane would have configured them, and the runtimes that are made of them.

import { onTestFinished } from 'vitest';
import { AddressDialer } from '../../../src/edge/dialing/address-dialer.ts';
import type {
  BackendConfig,
  ConnectionEdgeConfig,
  EdgeConfigSource,
  EdgeConfigs,
  HttpsEdgeConfig,
  RouteConfig,
} from '../../../src/edge/edges/edge-config.ts';
import type { LiveRoute } from '../../../src/edge/edges/https-edge.ts';
import { LiveEdges } from '../../../src/edge/edges/live-edges.ts';
import { moduleDescriptors } from '../../../src/edge/modules/index.ts';
import { OWN_CLIENT_TYPE } from '../../../src/protocol/messages/auth.ts';
import type { MuxSession } from '../../../src/protocol/mux/mux-session.ts';
import { agentKindOf } from '../../../src/tunnel/control/compatibility.ts';
import type { Labels } from '../../../src/tunnel/endpoints/endpoint.ts';
import { localLookup } from '../../../src/tunnel/endpoints/endpoint-lookup.ts';
import { EndpointRegistry } from '../../../src/tunnel/endpoints/endpoint-registry.ts';
import { StreamSlots } from '../../../src/tunnel/endpoints/stream-slots.ts';
import { LabelledTunnel } from '../../../src/tunnel/endpoints/tunnel-group.ts';
import { environmentOf } from '../../policy/exchange-support.ts';

export const ACCOUNT = 'ac_1';
export const WEB: BackendConfig = { enabled: true, labels: { app: 'web' } };

export function route(id: string, match: string, more: Partial<RouteConfig> = {}): RouteConfig {
  return { id, matchType: 'path_prefix', match, backend: WEB, modules: {}, ...more };
}

export function httpsEdge(id: string, name: string, more: Partial<HttpsEdgeConfig> = {}): HttpsEdgeConfig {
  const names = [{ hostname: name, endpointId: `ep_${id}` }];
  return { kind: 'https', id, accountId: ACCOUNT, names, modules: {}, routes: [route(`r_${id}`, '/')], ...more };
}

export function tlsEdge(id: string, name: string, more: Partial<ConnectionEdgeConfig> = {}): ConnectionEdgeConfig {
  const names = [{ hostname: name, endpointId: `ep_${id}` }];
  return { kind: 'tls', id, accountId: ACCOUNT, names, backend: WEB, modules: {}, ...more };
}

/** An agent's tunnel with labels, not registered yet. */
export function labelled(
  session: MuxSession,
  tunnelId: string,
  labels: Labels,
  more: Partial<ConstructorParameters<typeof LabelledTunnel>[0]> = {},
): LabelledTunnel {
  const slots = new StreamSlots(agentKindOf({ clientType: OWN_CLIENT_TYPE, userAgent: '' }));
  const bound = { tunnelId, accountId: ACCOUNT, labels, upstreamProtocol: 'http1', sharesConnections: false } as const;
  return new LabelledTunnel({ ...bound, forwardsTo: '', ...more }, session, slots);
}

/** What is configured, to be changed by the test, and what is live of it. */
export async function startEdges(
  configs: Partial<Pick<EdgeConfigs, 'edges' | 'certificates'>> = {},
  random = Math.random,
) {
  const configured: Pick<EdgeConfigs, 'edges' | 'certificates'> = { edges: [], certificates: [], ...configs };
  /** All that were ever configured, with their accounts. */
  const known = { edges: new Map<string, string>(), domains: new Map<string, string>() };
  const broken: string[] = [];
  const environment = environmentOf();
  let listener: Parameters<EdgeConfigSource['onChange']>[0] = async () => {};
  const idsOf = (all: Map<string, string>, ids: readonly string[] | null) =>
    ids && [...all].flatMap(([id, accountId]) => (ids.includes(id) || ids.includes(accountId) ? id : []));
  const source: EdgeConfigSource = {
    /** Takes the ids of edges, and of accounts for all of theirs. */
    async load(ids) {
      for (const { id, accountId } of configured.edges) known.edges.set(id, accountId);
      for (const { domainId, accountId } of configured.certificates) known.domains.set(domainId, accountId);
      const [edgeIds, domainIds] = [idsOf(known.edges, ids), idsOf(known.domains, ids)];
      return {
        edgeIds,
        edges: structuredClone(configured.edges.filter(({ id }) => !edgeIds || edgeIds.includes(id))),
        domainIds,
        certificates: structuredClone(
          configured.certificates.filter(({ domainId: id }) => !domainIds || domainIds.includes(id)),
        ),
        applied() {},
      };
    },
    findChallenge: async () => undefined,
    challengeHolder: async () => undefined,
    onChange(added) {
      listener = added;
      return () => {};
    },
  };
  const endpoints = new EndpointRegistry();
  const edges = new LiveEdges({
    source,
    endpoints,
    lookup: localLookup(endpoints, { lookUp: async () => ({ status: 'unknown' }) }),
    dialer: new AddressDialer({ backendHosts: [], backendCaFile: undefined }),
    environment,
    random,
    descriptors: moduleDescriptors,
    publicPorts: { publicHttpPort: 8080, publicHttpsPort: 8443 },
    onFailure: (error) => void broken.push(String(error)),
    onBroken: (id, error) => void broken.push(`${id}: ${(error as Error).message}`),
  });
  await edges.start();
  onTestFinished(() => edges.close());
  return {
    edges,
    endpoints,
    configured,
    /** What was told of, in order. */
    broken,
    changed: (ids: string[] | null = [ACCOUNT]) => listener(ids),
    /** The endpoint that visitors of a name get. */
    at: (name: string) => endpoints.byName('tls', name),
    /** The route that a request takes, or why it takes none. */
    routeOf(name: string, target = '/'): LiveRoute | string {
      const rules = endpoints.byName('tls', name)?.rules as { route(target: string): LiveRoute | string };
      return rules.route(target);
    },
  };
}
