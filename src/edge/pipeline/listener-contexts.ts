// The two sides of the gateway that visitors come to with HTTP.

import { networksOf } from '../../net/networks.ts';
import type { EndpointRegistry } from '../../tunnel/endpoints/endpoint-registry.ts';
import { httpsOrigin } from '../addresses.ts';
import type { Counters } from '../metrics/counters.ts';
import type { EdgeSettings } from '../settings.ts';
import { asHttp1Endpoint } from '../upstream/http2/http1-adapter.ts';
import type { HttpListenerContext, NameStatus } from './listener-context.ts';
import type { PipelineServices } from './services.ts';

export interface ListenerContextOptions {
  settings: EdgeSettings & { readonly trustedProxies: readonly string[]; readonly ownNames: ReadonlySet<string> };
  endpoints: Pick<EndpointRegistry, 'byName'>;
  /** About a name for which nothing is live here, and which is none of our own. */
  statusOf(listener: 'http' | 'tls', hostname: string): Promise<NameStatus>;
  services: PipelineServices;
  /** A clock that never goes back, in milliseconds. */
  now(): number;
  counters: Pick<Counters, 'http' | 'https'>;
}

/** The side of HTTPS and TLS. */
export function httpsListenerContext({
  settings,
  endpoints,
  statusOf,
  services,
  now,
  counters,
}: ListenerContextOptions): HttpListenerContext {
  const { trustedProxies, ownNames } = settings;
  return {
    scheme: 'https',
    find: (hostname) => endpoints.byName('tls', hostname),
    statusOf: async (hostname) => (ownNames.has(hostname) ? 'unknown' : statusOf('tls', hostname)),
    services,
    settings,
    proxies: trustedProxies.length > 0 ? networksOf(trustedProxies) : undefined,
    now,
    counters: counters.https,
  };
}

/** The side of HTTP. @param https the other one. @param publicHttpsPort that visitors reach it at. */
export function httpListenerContext(
  { settings, endpoints, statusOf, counters }: ListenerContextOptions,
  https: HttpListenerContext,
  publicHttpsPort: number,
): HttpListenerContext {
  return {
    ...https,
    scheme: 'http',
    find(hostname) {
      const endpoint = endpoints.byName('http', hostname);
      return endpoint && asHttp1Endpoint(endpoint);
    },
    statusOf: async (hostname) => (settings.ownNames.has(hostname) ? 'unknown' : statusOf('http', hostname)),
    redirect: (hostname) =>
      endpoints.byName('tls', hostname)?.proto === 'https' ? httpsOrigin(hostname, publicHttpsPort) : undefined,
    counters: counters.http,
  };
}
