// The agents behind an endpoint: the one that opened its tunnel, or all those whose tunnels its edge chooses by their labels.

import type { BackendKind } from '../../../store/generated/prisma/enums.ts';
import { type Labels, matchesLabels } from '../../../tunnel/endpoints/endpoint.ts';
import type { Context } from '../../context.ts';
import type { ShownRoundTrip } from '../../dependencies.ts';
import {
  choosingBackends,
  liveLabelledTunnels,
  type OpenTunnel,
  sessionsSelect,
  tunnelGroups,
} from './live-tunnels.ts';

const backend = { backendEnabled: true, backend: { select: { id: true, kind: true, labels: true } } } as const;

/** What has to be known of an endpoint to tell. */
export const servingSelect = {
  tunnel: { select: sessionsSelect },
  edge: { select: { ...backend, routes: { select: backend } } },
} as const;

interface ServingBackend {
  id: string;
  kind: BackendKind;
  labels: unknown;
}

interface WithBackend {
  backendEnabled: boolean | null;
  backend: ServingBackend | null;
}

interface ServedEndpoint {
  tunnel: OpenTunnel | null;
  edge: (WithBackend & { routes: WithBackend[] }) | null;
}

/** The tunnels behind an endpoint. */
async function tunnelsServing({ tunnel, edge }: ServedEndpoint, context: Context): Promise<OpenTunnel[]> {
  if (tunnel) return [tunnel];
  if (!edge) return [];
  const backends = [edge, ...edge.routes].flatMap(({ backendEnabled, backend: chosen }) =>
    backendEnabled && chosen ? [chosen] : [],
  );
  const selectors = await selectorsOf(backends, context);
  return (await liveLabelledTunnels(context)).filter(({ labels }) =>
    selectors.some((selector) => matchesLabels(selector, labels)),
  );
}

/** The labels by which backends choose tunnels, and those of the backends that they lead to. */
async function selectorsOf(backends: ServingBackend[], context: Context): Promise<Labels[]> {
  const selectors = backends.filter(({ kind }) => kind === 'TUNNEL_GROUP').map(({ labels }) => labels as Labels);
  if (selectors.length === backends.length) return selectors;
  const [choosing, groups] = [await choosingBackends(context), await tunnelGroups(context)];
  const members = new Map(choosing.map((one) => [one.id, one.members.map(({ memberId }) => memberId)]));
  const reached = new Set(backends.map(({ id }) => id));
  for (const id of reached) for (const member of members.get(id) ?? []) reached.add(member);
  return groups.filter(({ id }) => reached.has(id)).map(({ labels }) => labels);
}

/** The number of agents behind an endpoint. One that serves it in several sessions counts once. */
export async function countAgents(endpoint: ServedEndpoint, context: Context): Promise<number> {
  const tunnels = await tunnelsServing(endpoint, context);
  return new Set(tunnels.flatMap(({ session }) => session?.clientId ?? [])).size;
}

/** The newest sign of life of the agents behind an endpoint that any node knows of. */
export async function newestRoundTrip(endpoint: ServedEndpoint, context: Context): Promise<ShownRoundTrip | null> {
  const tunnels = await tunnelsServing(endpoint, context);
  const ids = new Set(tunnels.flatMap(({ sessionId, legs }) => [sessionId, ...legs.map((leg) => leg.sessionId)]));
  return context.app.traffic.newestRoundTrip([...ids]);
}
