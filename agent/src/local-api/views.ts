// The JSON of tunnels in the local API.

import { maskPolicy } from '@gateway/protocol';
import type { PolicyDocument } from '../tunnels/policy.ts';
import type { AgentTunnel } from '../tunnels/tunnel.ts';

/** The response to a creation: the five documented members. @param policy the policy of the request. */
export function createdTunnel({ saved }: AgentTunnel, policy: PolicyDocument | null): object {
  const { url, protocol, forwardsTo, domain } = saved;
  return { url, protocol, forwards_to: forwardsTo, domain, policy };
}

/** A tunnel in a list: the five documented members. The policy is the applied one, as a JSON text with masked secrets. */
export function tunnelSummary({ saved }: AgentTunnel): object {
  const { url, protocol, forwardsTo, domain, policy } = saved;
  return { url, protocol, forwards_to: forwardsTo, domain, policy: JSON.stringify(maskPolicy(policy)) };
}

/** The status of a tunnel. */
export function statusOf({ phase, handle }: AgentTunnel): string {
  return phase === 'closing' ? 'closing' : handle.state;
}

/** A single tunnel, with everything but its secrets. */
export function tunnelDetails(tunnel: AgentTunnel): object {
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
    legs: handle.legs,
    created_at: saved.createdAt,
    connections,
    open_connections: openConnections,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    dial_failures: dialFailures,
  };
}
