// How the agent is: what probes, people and metrics ask.

import type { ClientStatus, GatewayClient } from '../gateway-client.ts';
import { statusOf } from '../local-api/views.ts';
import { type AgentConfig, writeAddress } from '../settings/config.ts';
import type { AgentTunnel } from '../tunnels/tunnel.ts';
import type { TunnelTable } from '../tunnels/tunnel-table.ts';
import { version } from '../version.ts';
import type { Publication } from './publish-api.ts';

export interface AgentHealth {
  readonly client: ClientStatus;
  readonly tunnels: readonly AgentTunnel[];
  readonly version: string;
  /** What was wrong with the state file at the start; null when nothing was. */
  readonly damage: string | null;
  /** Answers of the local API, by status. */
  readonly answers: Map<number, number>;
  /** Everything, as JSON. */
  status(): object;
  /** Why it is not ready; empty when it is: a session, and an answer to every tunnel. */
  notReady(): string[];
}

interface Parts {
  config: AgentConfig;
  client: GatewayClient;
  tunnels: TunnelTable;
  damage: string | null;
  publication: Publication | null;
}

export function createHealth({ config, client, tunnels, damage, publication }: Parts): AgentHealth {
  const startedAt = new Date().toISOString();
  const instant = (ms: number) => new Date(ms).toISOString();

  function notReady(): string[] {
    if (client.status.state !== 'online') return ['there is no session with the gateway'];
    const waiting = tunnels.all.filter(({ handle }) => handle.state === 'pending').map(({ saved }) => saved.url);
    if (publication?.status.status === 'pending') waiting.push(`https://${config.domain}`);
    return waiting.map((url) => `${url} waits for the gateway`);
  }

  function session(): object {
    const { state, since, error, retryAt, latencyMs, sessions } = client.status;
    const retry_at = retryAt === null ? null : instant(retryAt);
    return { state, since: instant(since), error, retry_at, latency_ms: latencyMs, sessions };
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
    answers: new Map(),
    notReady,
    status: () => ({
      version,
      started_at: startedAt,
      ready: notReady().length === 0,
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
