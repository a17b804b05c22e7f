// What a listener for HTTP asks of the rest of the gateway.

import type { Networks } from '../../net/networks.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { HttpCounters } from '../metrics/counters.ts';
import type { EdgeSettings } from '../settings.ts';
import type { PipelineServices } from './services.ts';

/** A name for which nothing is live on this node: nobody's, somebody's who is away, or live on another node. */
export type NameStatus = 'unknown' | 'offline' | 'elsewhere';

/** A side of the gateway that visitors come to. */
export interface ListenerContext {
  /** How visitors come: what upstreams are told in X-Forwarded-Proto. */
  readonly scheme: 'http' | 'https';
  /**
   * The endpoint for a name (lower case, no port, no dot at the end); `misdirected` when requests to it must not come on
   * this connection, which are answered with 421.
   */
  find(hostname: string): LiveEndpoint | 'misdirected' | undefined;
  /** About a name for which `find` has nothing. Rejects when it cannot be told. */
  statusOf(hostname: string): Promise<NameStatus>;
  /** An origin such as `https://example.com:8443` that serves a name for which `find` has nothing; 307 leads there. */
  redirect?(hostname: string): string | undefined;
  /** The handlings whose connection modules the connection has passed already. */
  readonly admitted?: Set<object> | undefined;
  readonly services: PipelineServices;
  readonly settings: EdgeSettings;
  /** Proxies whose `X-Forwarded-For` says who asks; undefined where nobody's does. */
  readonly proxies?: Networks | undefined;
  /** A clock that never goes back, in milliseconds. */
  now(): number;
  readonly counters: HttpCounters;
}

/** A side of the gateway as a whole, before it is known what a connection is for. */
export interface HttpListenerContext extends ListenerContext {
  find(hostname: string): LiveEndpoint | undefined;
}
