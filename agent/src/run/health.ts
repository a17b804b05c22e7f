// The health of the agent, for probes, people and metrics.

import type { ClientStatus, GatewayClient } from '../gateway-client.ts';
import type { AgentHealth } from '../local-api/health.ts';
import { statusOf } from '../local-api/views.ts';
import type { AgentConfig } from '../settings/config.ts';
import { writeAddress } from '../settings/host-address.ts';
import type { OpenEndpoint } from '../tunnels/named-endpoints.ts';
import type { OpenState } from '../tunnels/open-state.ts';
import type { TunnelTable } from '../tunnels/tunnel-table.ts';
import { version } from '../version.ts';
import type { Publication } from './publish-api.ts';

interface HealthDeps {
  config: AgentConfig;
  client: GatewayClient;
  tunnels: TunnelTable;
  endpoints: readonly OpenEndpoint[];
  file: OpenState;
  publication: Publication | null;
}

/** Creates the view of the agent's health; it reads the current state at each call. */
export function createHealth({ config, client, tunnels, endpoints, file, publication }: HealthDeps): AgentHealth {
  const startedAt = new Date().toISOString();
  const toIso = (ms: number) => new Date(ms).toISOString();

  function notReadyReasons(): string[] {
    if (client.status.state !== 'online') return ['there is no session with the gateway'];
    const waiting = tunnels.all.filter(({ handle }) => handle.state === 'pending').map(({ saved }) => saved.url);
    for (const { name, handle } of endpoints) if (handle.state === 'pending') waiting.push(name);
    if (publication?.status.status === 'pending') waiting.push(`https://${config.domain}`);
    return waiting.map((url) => `${url} waits for the gateway`);
  }

  function connection({ state, since, error, retryAt, latencyMs, sessions }: Omit<ClientStatus, 'legs'>): object {
    const retry_at = retryAt === null ? null : toIso(retryAt);
    return { state, since: toIso(since), error, retry_at, latency_ms: latencyMs, sessions };
  }

  const legs = () =>
    client.status.legs.map((leg) => ({
      leg: leg.number,
      gateway: leg.gateway,
      node: leg.node,
      ...connection(leg),
    }));

  return {
    get client() {
      return client.status;
    },
    get tunnels() {
      return tunnels.all;
    },
    version,
    damage: file.damage,
    responses: new Map(),
    notReadyReasons,
    status: () => ({
      version,
      started_at: startedAt,
      ready: notReadyReasons().length === 0,
      gateway: config.gateways.map(writeAddress).join(', '),
      session: connection(client.status),
      legs: legs(),
      tunnels: tunnels.all.map((tunnel) => ({
        url: tunnel.saved.url,
        status: statusOf(tunnel),
        last_error: tunnel.handle.error,
        legs: tunnel.handle.legs,
      })),
      endpoints: endpoints.map(({ name, handle }) => ({
        name,
        url: handle.url,
        status: handle.state,
        last_error: handle.error,
        legs: handle.legs,
      })),
      api: publication?.status ?? null,
      state_file: { damage: file.damage, failure: file.failure },
    }),
  };
}
