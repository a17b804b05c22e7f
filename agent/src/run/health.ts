// The health of the agent, for probes, people and metrics.

import type { ClientStatus, GatewayClient } from '../gateway-client.ts';
import { statusOf } from '../local-api/views.ts';
import { type AgentConfig, writeAddress } from '../settings/config.ts';
import type { AgentTunnel } from '../tunnels/tunnel.ts';
import type { TunnelTable } from '../tunnels/tunnel-table.ts';
import { version } from '../version.ts';
import type { Publication } from './publish-api.ts';

/** The health of a running agent. */
export interface AgentHealth {
  readonly client: ClientStatus;
  readonly tunnels: readonly AgentTunnel[];
  readonly version: string;
  /** The damage of the state file that was found at the start; null when there was none. */
  readonly damage: string | null;
  /** The number of responses of the local API, by status. */
  readonly responses: Map<number, number>;
  /** The body of `GET /status`. */
  status(): object;
  /** The reasons why the agent is not ready; empty when it has a session and a response for every tunnel. */
  notReadyReasons(): string[];
}

interface HealthDeps {
  config: AgentConfig;
  client: GatewayClient;
  tunnels: TunnelTable;
  damage: string | null;
  publication: Publication | null;
}

/** Creates the view of the agent's health; it reads the current state at each call. */
export function createHealth({ config, client, tunnels, damage, publication }: HealthDeps): AgentHealth {
  const startedAt = new Date().toISOString();
  const toIso = (ms: number) => new Date(ms).toISOString();

  function notReadyReasons(): string[] {
    if (client.status.state !== 'online') return ['there is no session with the gateway'];
    const waiting = tunnels.all.filter(({ handle }) => handle.state === 'pending').map(({ saved }) => saved.url);
    if (publication?.status.status === 'pending') waiting.push(`https://${config.domain}`);
    return waiting.map((url) => `${url} waits for the gateway`);
  }

  function session(): object {
    const { state, since, error, retryAt, latencyMs, sessions } = client.status;
    const retry_at = retryAt === null ? null : toIso(retryAt);
    return { state, since: toIso(since), error, retry_at, latency_ms: latencyMs, sessions };
  }

  return {
    get client() {
      return client.status;
    },
    get tunnels() {
      return tunnels.all;
    },
    version,
    damage,
    responses: new Map(),
    notReadyReasons,
    status: () => ({
      version,
      started_at: startedAt,
      ready: notReadyReasons().length === 0,
      gateway: writeAddress(config.gateway),
      session: session(),
      tunnels: tunnels.all.map((tunnel) => ({
        url: tunnel.saved.url,
        status: statusOf(tunnel),
        last_error: tunnel.handle.error,
      })),
      api: publication?.status ?? null,
      state_file: { damage },
    }),
  };
}
