// The agents behind an endpoint: the one that opened its tunnel, or all those whose tunnels its edge chooses by their labels.

import { type Labels, matchesLabels } from '../../../tunnel/endpoints/endpoint.ts';
import type { Context } from '../../context.ts';
import type { ShownRoundTrip } from '../../dependencies.ts';
import { liveLabelledTunnels, type OpenTunnel, sessionsSelect } from './live-tunnels.ts';

const backend = { backendEnabled: true, backend: { select: { labels: true } } } as const;

/** What has to be known of an endpoint to tell. */
export const servingSelect = {
  tunnel: { select: sessionsSelect },
  edge: { select: { ...backend, routes: { select: backend } } },
} as const;

interface WithBackend {
  backendEnabled: boolean | null;
  backend: { labels: unknown } | null;
}

interface ServedEndpoint {
  tunnel: OpenTunnel | null;
  edge: (WithBackend & { routes: WithBackend[] }) | null;
}

/** The tunnels behind an endpoint. */
async function tunnelsServing({ tunnel, edge }: ServedEndpoint, context: Context): Promise<OpenTunnel[]> {
  if (tunnel) return [tunnel];
  if (!edge) return [];
  const selectors = [edge, ...edge.routes].flatMap(({ backendEnabled, backend: chosen }) =>
    backendEnabled && chosen ? [chosen.labels as Labels] : [],
  );
  return (await liveLabelledTunnels(context)).filter(({ labels }) =>
    selectors.some((selector) => matchesLabels(selector, labels)),
  );
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
