// An endpoint that is live on this node: a public address, and the way to the agent that serves it.

import type { ByteStream, StreamEvents } from '../../protocol/mux/stream.ts';
import type { TrafficMeter } from './traffic-meter.ts';

export type Proto = 'http' | 'https' | 'tcp' | 'tls';

/** Who is visiting, as the agent is told. */
export interface Visitor {
  /** IPv4 or IPv6, without brackets. */
  ip: string;
  port: number;
  /** Where the visitor came to. */
  local: { ip: string; port: number };
  /** The visitor's TLS goes through to the agent. */
  passthrough: boolean;
}

/** Why no stream could be opened to the agent: it is gone, or has all the streams that it can take. */
export type OpenFailure = 'offline' | 'overloaded';

/** What is done to an endpoint's traffic on its way. Only the public side knows what else is in it. */
export interface Handling {
  /** The names of internal endpoints that it leads to, as far as they are known before there are visitors. */
  readonly leadsTo?: readonly string[];
}

export interface LiveEndpoint {
  /** `ep_…` */
  readonly id: string;
  /** `tn_…` */
  readonly tunnelId: string;
  readonly accountId: string;
  readonly proto: Proto;
  /** Lower case; a wildcard begins with `*.`. */
  readonly hostname: string;
  readonly port: number;
  readonly publicUrl: string;
  /** The version of the PROXY protocol header that each stream begins with; 0 is none. */
  readonly proxyProtocol: 0 | 1 | 2;
  /** What the upstream wants to be spoken to in. */
  readonly upstreamProtocol: 'http1' | 'http2';
  /** For `tls`: who ends the visitor's TLS, and with which certificate (PEM) where the agent brought its own. */
  readonly tls: 'passthrough' | 'gateway' | { readonly certificate: string; readonly key: string };
  /** Undefined where nothing is done to it, which costs nothing. */
  readonly handling?: Handling;
  /** What its visitors do; undefined where nobody wants to know. */
  readonly meter?: TrafficMeter;
  /** False once it is closed; nothing can be opened then. */
  readonly isOpen: boolean;
  /**
   * Opens a stream to the agent for one visitor's connection. The PROXY protocol header, where one is asked for, is
   * already in it. Waits, up to its limit, while the agent has all the streams that it can take.
   */
  open(visitor: Visitor, events: StreamEvents): Promise<ByteStream | OpenFailure>;
}

export type Labels = Readonly<Record<string, string>>;

/** Whether `labels` has every pair of the selector; it may have more. Keys and values are compared exactly. */
export function matchesLabels(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
