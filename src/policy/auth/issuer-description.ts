// The description of an OpenID Connect issuer (Discovery 1.0, section 4).

import type { ServerMetadata } from 'openid-client';
import type { ReachableHosts } from '../../net/reachable-hosts.ts';
import { fetchJson } from './fetch-json.ts';

/** The description of an issuer is not what it must be. */
export class BadDescription extends Error {}

/**
 * Fetches the description of an issuer, which must name exactly this issuer: no other document can be put in its place.
 * @throws {BadDescription}
 * @throws {Error} as `fetchJson` does, within 5 s.
 */
export async function describeIssuer(issuer: string, hosts: ReachableHosts): Promise<ServerMetadata> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const description = (await fetchJson(url, hosts)) as Record<string, unknown> | null;
  if (description?.issuer !== issuer) throw new BadDescription(`${url} is the description of another issuer`);
  for (const member of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'])
    if (typeof description[member] !== 'string') throw new BadDescription(`${url} has no ${member}`);
  const page = new URL(description.authorization_endpoint as string);
  if (page.protocol !== 'https:' && !(hosts.isAny && page.protocol === 'http:'))
    throw new BadDescription(`${url} names an authorization endpoint that is not https`);
  return description as unknown as ServerMetadata;
}
