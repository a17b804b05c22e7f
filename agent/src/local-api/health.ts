// What the local API shows of the agent's health.

import type { ClientStatus } from '../gateway-client.ts';
import type { AgentTunnel } from '../tunnels/tunnel.ts';

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
