// Routes: which tunnel of which node serves what a visitor asks for. The control plane finds them in the database.

import type { Labels } from '../endpoints/endpoint.ts';
import type { NameStatus } from '../endpoints/endpoint-lookup.ts';
import type { EndpointAddress } from '../endpoints/endpoint-registry.ts';

/** A node of the cluster. */
export interface NodeRef {
  readonly id: string;
  /** Where it listens for other nodes, as `host:port`; '' when it does not. */
  readonly address: string;
}

/** A tunnel on another node. */
export interface TunnelRoute {
  readonly tunnelId: string;
  readonly node: NodeRef;
  /** Which of the addresses that were looked up it serves: 0 is the most specific. */
  readonly rank: number;
}

/** What is looked up: a name at a listener, where wildcards count, or one address. */
export type RouteTarget =
  | { readonly listener: 'http' | 'tls'; readonly hostname: string }
  | { readonly address: EndpointAddress };

export interface Routes {
  /** `offline`, `covered` and `beneath`: an address that is reserved or held, and served by nobody. `unknown`: one that is nobody's. */
  readonly status: NameStatus;
  /** The tunnels of live nodes at the most specific address that any of them serves. */
  readonly routes: readonly TunnelRoute[];
  /** Whether further tunnels may serve it soon while these routes still work: of pools, of wildcards, and of what nobody serves. */
  readonly mayChange: boolean;
}

/** The part of the registrar that finds routes. Each method rejects when the database does not answer. */
export interface RouteSource {
  /** How many lookups were answered from memory, and how many by the database. */
  readonly lookups: { readonly hits: number; readonly misses: number };
  /** Finds what other nodes serve. */
  lookUp(target: RouteTarget): Promise<Routes>;
  /** Drops what is remembered of a target: a route has turned out to be wrong. */
  forgetRoutes(target: RouteTarget): void;
  /** The labelled tunnels of an account on other nodes whose labels include all of the selector; the newest first. */
  lookUpLabels(accountId: string, selector: Labels): Promise<readonly TunnelRoute[]>;
  /** The TCP ports that live endpoints of other nodes have. */
  remotePorts(): Promise<readonly number[]>;
  /** Calls the listener when ports of other nodes may have changed. */
  onRemotePortsChange(listener: () => void): void;
}
