// The agent's own API, published under AGENT_DOMAIN.

import type { GatewayClient, GatewayError, Resumption, TunnelState } from '../gateway-client.ts';
import type { DefaultPolicy } from '../tunnels/policy.ts';

export interface Publication {
  readonly status: { url: string | null; status: TunnelState; last_error: GatewayError | null };
  /** To be kept; null before the gateway has answered. */
  readonly resume: Resumption | null;
  /** To be called when the client has changed something. */
  update(): void;
}

interface PublishOptions {
  client: GatewayClient;
  domain: string;
  /** Where the API listens. */
  forwardsTo: string;
  defaultPolicy: DefaultPolicy;
  resume: Resumption | null;
  print(line: string): void;
}

/** Opens its tunnel, under the default policy as any other. @throws {PolicyError} when there is none. */
export function publishApi({ client, domain, forwardsTo, defaultPolicy, resume, print }: PublishOptions): Publication {
  const policy = JSON.stringify(defaultPolicy.current('https'));
  const handle = client.open({ protocol: 'https', domain, forwardsTo, policy, metadata: '', resume });
  let printed: string | null = null;
  return {
    get status() {
      return { url: handle.url, status: handle.state, last_error: handle.error };
    },
    get resume() {
      return handle.resumption;
    },
    update() {
      if (handle.state !== 'active' || handle.url === printed) return;
      printed = handle.url;
      print(`forwarding ${printed} -> ${forwardsTo}`);
    },
  };
}
