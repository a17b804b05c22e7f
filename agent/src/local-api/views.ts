// Tunnels as the local API shows them.

import { maskPolicy } from '@gateway/protocol';
import type { PolicyDocument } from '../tunnels/policy.ts';
import type { AgentTunnel } from '../tunnels/tunnel.ts';

/** The five documented members. @param policy as it was sent, after a creation. */
export function created({ saved }: AgentTunnel, policy: PolicyDocument | null): object {
  const { url, protocol, forwardsTo, domain } = saved;
  return { url, protocol, forwards_to: forwardsTo, domain, policy };
}

/** The same; the policy is the one that is applied, as a JSON text, without its secrets. */
export function listed({ saved }: AgentTunnel): object {
  const { url, protocol, forwardsTo, domain, policy } = saved;
  return { url, protocol, forwards_to: forwardsTo, domain, policy: JSON.stringify(maskPolicy(policy)) };
}

export function statusOf({ phase, handle }: AgentTunnel): string {
  return phase === 'closing' ? 'closing' : handle.state;
}

/** Everything but the secrets. */
export function detailed(tunnel: AgentTunnel): object {
  const { saved, handle } = tunnel;
  const { connections, openConnections, bytesIn, bytesOut, dialFailures } = handle.counters;
  return {
    id: saved.id,
    url: saved.url,
    previous_url: saved.previousUrl,
    tunnel_id: saved.resume?.tunnelId ?? null,
    protocol: saved.protocol,
    forwards_to: saved.forwardsTo,
    domain: saved.domain,
    policy: maskPolicy(saved.policy),
    policy_source: saved.policySource,
    status: statusOf(tunnel),
    last_error: handle.error,
    created_at: saved.createdAt,
    connections,
    open_connections: openConnections,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    dial_failures: dialFailures,
  };
}
