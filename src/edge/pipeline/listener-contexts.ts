// The two sides of the gateway that visitors come to with HTTP.

import { networksOf } from '../../net/networks.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { EndpointLookup, NameStatus } from '../../tunnel/endpoints/endpoint-lookup.ts';
import type { AcmeChallenges } from '../acme-challenges.ts';
import { httpsOrigin } from '../addresses.ts';
import type { Counters } from '../metrics/counters.ts';
import type { EdgeSettings } from '../settings.ts';
import { asHttp1Endpoint } from '../upstream/http2/http1-adapter.ts';
import type { HttpListenerContext } from './listener-context.ts';
import type { PipelineServices } from './services.ts';

export interface ListenerContextOptions {
  settings: EdgeSettings & { readonly trustedProxies: readonly string[]; readonly ownNames: ReadonlySet<string> };
  lookup: EndpointLookup;
  services: PipelineServices;
  /** A clock that never goes back, in milliseconds. */
  now(): number;
  counters: Pick<Counters, 'http' | 'https'>;
  challenges?: AcmeChallenges | undefined;
}

/** The side of HTTPS and TLS. */
export function httpsListenerContext({
  settings,
  lookup,
  services,
  now,
  counters,
  challenges,
}: ListenerContextOptions): HttpListenerContext {
  const { trustedProxies, ownNames } = settings;
  return {
    scheme: 'https',
    find: (hostname) => lookup.byName('tls', hostname),
    resolve: async (hostname) => (ownNames.has(hostname) ? 'unknown' : lookup.resolveName('tls', hostname)),
    services,
    settings,
    proxies: trustedProxies.length > 0 ? networksOf(trustedProxies) : undefined,
    now,
    counters: counters.https,
    challenges,
  };
}

/** The side of HTTP. @param https the other one. @param publicHttpsPort that visitors reach it at. */
export function httpListenerContext(
  { settings, lookup, counters }: ListenerContextOptions,
  https: HttpListenerContext,
  publicHttpsPort: number,
): HttpListenerContext {
  return {
    ...https,
    scheme: 'http',
    find(hostname) {
      const endpoint = lookup.byName('http', hostname);
      return endpoint && asHttp1Endpoint(endpoint);
    },
    async resolve(hostname) {
      if (settings.ownNames.has(hostname)) return 'unknown';
      const found = await lookup.resolveName('http', hostname);
      if (typeof found === 'object') return asHttp1Endpoint(found);
      const secure = lookup.reachesNodes ? await lookup.resolveName('tls', hostname) : undefined;
      return isHttps(secure) ? { origin: httpsOrigin(hostname, publicHttpsPort) } : found;
    },
    redirect: (hostname) =>
      isHttps(lookup.byName('tls', hostname)) ? httpsOrigin(hostname, publicHttpsPort) : undefined,
    counters: counters.http,
  };
}

const isHttps = (found: LiveEndpoint | NameStatus | undefined) => typeof found === 'object' && found.proto === 'https';
