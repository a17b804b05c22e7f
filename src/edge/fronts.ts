// The two sides of the gateway that visitors come to with HTTP.

import { networksOf } from '../net/networks.ts';
import type { Endpoints } from '../tunnel/endpoints/endpoint-registry.ts';
import { httpsOrigin } from './addresses.ts';
import type { SharedFront, Whereabouts } from './http/front.ts';
import { spokenTo } from './http2/upstream.ts';
import type { EdgeSettings } from './settings.ts';
import type { Counters } from './visits/counters.ts';
import type { VisitServices } from './visits/services.ts';

export interface FrontsOptions {
  settings: EdgeSettings & { readonly trustedProxies: readonly string[]; readonly ownNames: ReadonlySet<string> };
  endpoints: Pick<Endpoints, 'byName'>;
  /** About a name for which nothing is live here, and which is none of our own. */
  whereIs(listener: 'http' | 'tls', hostname: string): Promise<Whereabouts>;
  visits: VisitServices;
  /** A clock that never goes back, in milliseconds. */
  now(): number;
  counters: Pick<Counters, 'http' | 'https'>;
}

/** The side of HTTPS and TLS. */
export function httpsFront({ settings, endpoints, whereIs, visits, now, counters }: FrontsOptions): SharedFront {
  const { trustedProxies, ownNames } = settings;
  return {
    scheme: 'https',
    find: (hostname) => endpoints.byName('tls', hostname),
    whereIs: async (hostname) => (ownNames.has(hostname) ? 'unknown' : whereIs('tls', hostname)),
    visits,
    settings,
    proxies: trustedProxies.length > 0 ? networksOf(trustedProxies) : undefined,
    now,
    counters: counters.https,
  };
}

/** The side of HTTP. @param https the other one. @param publicHttpsPort that visitors reach it at. */
export function httpFront(
  { settings, endpoints, whereIs, counters }: FrontsOptions,
  https: SharedFront,
  publicHttpsPort: number,
): SharedFront {
  return {
    ...https,
    scheme: 'http',
    find(hostname) {
      const endpoint = endpoints.byName('http', hostname);
      return endpoint && spokenTo(endpoint);
    },
    whereIs: async (hostname) => (settings.ownNames.has(hostname) ? 'unknown' : whereIs('http', hostname)),
    redirect: (hostname) =>
      endpoints.byName('tls', hostname)?.proto === 'https' ? httpsOrigin(hostname, publicHttpsPort) : undefined,
    counters: counters.http,
  };
}
