// The tunnel that publishes the agent's own API under AGENT_DOMAIN.

import type { GatewayClient, GatewayError, Resumption, TunnelState } from '../gateway-client.ts';
import type { DefaultPolicy } from '../tunnels/policy.ts';

/** The published API. */
export interface Publication {
  readonly status: { url: string | null; status: TunnelState; last_error: GatewayError | null };
  /** The resumption of the tunnel, for the state file; null before the gateway's first response. */
  readonly resume: Resumption | null;
  /** Prints the URL when it has changed. It must be called after each change of the client. */
  update(): void;
}

interface PublishOptions {
  client: GatewayClient;
  domain: string;
  /** The address on which the API listens. */
  forwardsTo: string;
  defaultPolicy: DefaultPolicy;
  resume: Resumption | null;
  print(line: string): void;
}

/** Opens the tunnel with the default policy. @throws {PolicyError} when there is no default policy. */
export function publishApi({ client, domain, forwardsTo, defaultPolicy, resume, print }: PublishOptions): Publication {
  const policy = JSON.stringify(defaultPolicy.current('https'));
  const handle = client.open({ protocol: 'https', domain, forwardsTo, policy, metadata: '', resume });
  let printedUrl: string | null = null;
  return {
    get status() {
      return { url: handle.url, status: handle.state, last_error: handle.error };
    },
    get resume() {
      return handle.resumption;
    },
    update() {
      if (handle.state !== 'active' || handle.url === printedUrl) return;
      printedUrl = handle.url;
      print(`forwarding ${printedUrl} -> ${forwardsTo}`);
    },
  };
}
