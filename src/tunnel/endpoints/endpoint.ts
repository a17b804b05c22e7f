// A live endpoint of this node: its public address, and how to open a stream to its agent.

import type { ByteStream, StreamEvents } from '../../protocol/mux/stream.ts';
import type { TrafficMeter } from './traffic-meter.ts';

export type Proto = 'http' | 'https' | 'tcp' | 'tls';

/** The client of a public endpoint, as the proxy header to the agent describes it. */
export interface Visitor {
  /** IPv4 or IPv6, without brackets. */
  ip: string;
  port: number;
  /** The address that the visitor connected to. */
  local: { ip: string; port: number };
  /** Whether the agent terminates the visitor's TLS. */
  passthrough: boolean;
}

/**
 * Why no stream could be opened: the tunnel is closed; the agent, or the address that the gateway connects to, has reached its limit
 * of streams; there is nobody at that address, or the operator does not allow it.
 */
export type OpenFailure = 'offline' | 'overloaded' | 'dialFailed' | 'dialForbidden';

/** The modules and the policy that apply to an endpoint. Only the edge knows their further contents. */
export interface TrafficRules {
  /** The names of internal endpoints that the policy forwards to, as far as they are constant. */
  readonly leadsTo?: readonly string[];
}

/** The settings of the modules that an agent has requested for a tunnel, by module key. Only the edge reads them. */
export type RequestedModules = Readonly<Record<string, { enabled: boolean } | undefined>>;

/** What the agent of a tunnel has asked for, from which other nodes make the same rules. */
export interface RequestedRules {
  readonly modules: RequestedModules;
  /** The current rules of its credential's ACL. */
  readonly allowance: { readonly acl: readonly string[] };
}

export interface LiveEndpoint {
  /** `ep_…` */
  readonly id: string;
  /** `tn_…` */
  readonly tunnelId: string;
  readonly accountId: string;
  /** The edge that it is a name of, or the cloud endpoint; undefined of a tunnel. */
  readonly edgeId?: string;
  /** Of a cloud endpoint, which every node serves: whether tunnels that are pooled serve its address, too. */
  readonly isPooled?: boolean;
  /**
   * Whether it is known to serve nobody now: it cannot be served as it is configured, or all who would serve its visitors are offline.
   * Others at its address serve in its turn.
   */
  readonly isUnhealthy?: boolean;
  readonly proto: Proto;
  /** Lower case; a wildcard begins with `*.`. */
  readonly hostname: string;
  readonly port: number;
  readonly publicUrl: string;
  /** The version of the PROXY protocol header at the start of each stream; 0 is none. */
  readonly proxyProtocol: 0 | 1 | 2;
  /** The protocol that the upstream speaks. */
  readonly upstreamProtocol: 'http1' | 'http2';
  /**
   * Whether its streams serve one HTTP visitor after the other: the agent makes nothing of the visitor that a stream was opened for.
   */
  readonly sharesConnections?: boolean | undefined;
  /** Where its requests go, as its agent says it: `localhost:3000`, or any text. Undefined: it is not known. */
  readonly forwardsTo?: string | undefined;
  /** Whether the gateway itself connects to its service: that may be a gateway again. */
  readonly isDialed?: boolean;
  /** For `tls`: where the visitor's TLS is terminated, and the agent's certificate (PEM) when it supplied one. */
  readonly tls: 'passthrough' | 'gateway' | { readonly certificate: string; readonly key: string };
  /** Undefined when no module or policy applies, so that such endpoints pay no cost. */
  readonly rules?: TrafficRules;
  /** What its agent has asked for; undefined for the endpoints of edges. */
  readonly requested?: RequestedRules | undefined;
  /** Counts the traffic; undefined when it is not measured. */
  readonly meter?: TrafficMeter;
  /** False after the endpoint is closed. No stream can be opened then. */
  readonly isOpen: boolean;
  /**
   * Opens a stream to the agent for one visitor's connection, and writes the PROXY protocol header if the tunnel has one.
   * Waits, up to a timeout, while the agent is at its limit of streams.
   */
  open(visitor: Visitor, events: StreamEvents): Promise<ByteStream | OpenFailure>;
}

export type Labels = Readonly<Record<string, string>>;

/** Whether `labels` contains every pair of the selector. Keys and values must match exactly. */
export function matchesLabels(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
