// The agents behind an endpoint: the one that opened its tunnel, or all those whose tunnels its edge chooses by their labels.

import { type Labels, matchesLabels } from '../../../tunnel/endpoints/endpoint.ts';
import type { Context } from '../../context.ts';
import type { ShownRoundTrip } from '../../dependencies.ts';
import { liveLabelledTunnels } from './live-tunnels.ts';

const backend = { backendEnabled: true, backend: { select: { labels: true } } } as const;

/** What has to be known of an endpoint to tell. */
export const servingSelect = {
  tunnel: { select: { sessionId: true } },
  edge: { select: { ...backend, routes: { select: backend } } },
} as const;

interface WithBackend {
  backendEnabled: boolean | null;
  backend: { labels: unknown } | null;
}

interface ServedEndpoint {
  tunnel: { sessionId: string } | null;
  edge: (WithBackend & { routes: WithBackend[] }) | null;
}

/** The sessions of the agents behind an endpoint, each once. */
export async function sessionsServing({ tunnel, edge }: ServedEndpoint, context: Context): Promise<string[]> {
  if (tunnel) return [tunnel.sessionId];
  if (!edge) return [];
  const selectors = [edge, ...edge.routes].flatMap(({ backendEnabled, backend: chosen }) =>
    backendEnabled && chosen ? [chosen.labels as Labels] : [],
  );
  const chosen = (await liveLabelledTunnels(context)).filter(({ labels }) =>
    selectors.some((selector) => matchesLabels(selector, labels)),
  );
  return [...new Set(chosen.map(({ sessionId }) => sessionId))];
}

/** The newest sign of life of the agents behind an endpoint that any node knows of. */
export async function newestRoundTrip(endpoint: ServedEndpoint, context: Context): Promise<ShownRoundTrip | null> {
  const ids = await sessionsServing(endpoint, context);
  return context.app.traffic.newestRoundTrip(ids);
}
