// What a listener for HTTP needs of the rest of the gateway.

import type { Networks } from '../../net/networks.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { NameStatus } from '../../tunnel/endpoints/endpoint-lookup.ts';
import type { AcmeChallenges } from '../acme-challenges.ts';
import type { HttpCounters } from '../metrics/counters.ts';
import type { EdgeSettings } from '../settings.ts';
import type { PipelineServices } from './services.ts';

/** A name is served under another scheme: an origin such as `https://example.com:8443`. */
export interface Redirection {
  origin: string;
}

/** What serves a name, or the status of a name that nothing serves. `misdirected` is as of `find`. */
export type Resolution = LiveEndpoint | 'misdirected' | NameStatus | Redirection;

/** Where the requests of one connection go. */
export interface ListenerContext {
  /** The scheme that visitors use, for X-Forwarded-Proto. */
  readonly scheme: 'http' | 'https';
  /**
   * The endpoint for a name (lower case, no port, no dot at the end); `misdirected` when requests to it must not come on
   * this connection, which are answered with 421.
   */
  find(hostname: string): LiveEndpoint | 'misdirected' | undefined;
  /** Looks up a name for which `find` has nothing, on all nodes. Rejects when that is not possible. */
  resolve(hostname: string): Promise<Resolution>;
  /** An origin such as `https://example.com:8443` that serves a name for which `find` has nothing; 307 leads there. */
  redirect?(hostname: string): string | undefined;
  /** Challenges of certificate authorities, which are answered first; left out, none are. */
  readonly challenges?: AcmeChallenges | undefined;
  /** The rules whose connection modules the connection has passed already. */
  readonly admitted?: Set<object> | undefined;
  readonly services: PipelineServices;
  readonly settings: EdgeSettings;
  /** Proxies whose `X-Forwarded-For` names the client; undefined where no proxy is trusted. */
  readonly proxies?: Networks | undefined;
  /** A clock that never goes back, in milliseconds. */
  now(): number;
  readonly counters: HttpCounters;
}

/** A listener as a whole, before the name of a connection is known. */
export interface HttpListenerContext extends ListenerContext {
  find(hostname: string): LiveEndpoint | undefined;
}
