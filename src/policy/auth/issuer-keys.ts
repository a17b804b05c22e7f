// Where an issuer publishes its keys, as it says itself (OpenID Connect Discovery 1.0, section 4).

import { fetchJson } from './fetch-json.ts';

/**
 * Fetches the keys of an issuer, by way of its configuration.
 * @param issuer a URL; its configuration must name exactly this issuer, or anybody's could be passed off as its own.
 * @param isPrivateAllowed as for `fetchJson`.
 */
export async function fetchIssuerKeys(issuer: string, isPrivateAllowed: boolean): Promise<unknown> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const configuration = await fetchJson(url, isPrivateAllowed);
  const { issuer: named, jwks_uri: keys } = (configuration ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
  if (named !== issuer) throw new Error(`${url} is the configuration of another issuer`);
  if (typeof keys !== 'string') throw new Error(`${url} has no jwks_uri`);
  return fetchJson(keys, isPrivateAllowed);
}
