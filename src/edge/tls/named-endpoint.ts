// The endpoint of the name in a TLS handshake, on whichever node it is.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { HttpListenerContext, Resolution } from '../pipeline/listener-context.ts';
import { wildcardOver } from './certificates.ts';

export interface NamedEndpoint {
  /** Undefined for a name that nothing serves. */
  endpoint: LiveEndpoint | undefined;
  /**
   * What a name without an endpoint is held by: itself, or the wildcard over it. Undefined where it is nobody's, and below a wildcard
   * that no certificate covers it with: there, visitors could make names up. @throws what the lookup failed with.
   */
  heldAs(): string | undefined;
}

/** @param name undefined when the visitor named nobody. It never rejects: a failure shows when the status is asked for. */
export async function findNamedEndpoint(
  { find, resolve }: HttpListenerContext,
  name: string | undefined,
): Promise<NamedEndpoint> {
  const known = name === undefined ? undefined : find(name);
  if (known || name === undefined) return { endpoint: known, heldAs: () => undefined };
  try {
    const found = await resolve(name);
    const endpoint = typeof found === 'object' && !('origin' in found) ? found : undefined;
    return { endpoint, heldAs: () => holderOf(name, found) };
  } catch (error) {
    const heldAs = () => {
      throw error;
    };
    return { endpoint: undefined, heldAs };
  }
}

function holderOf(name: string, found: Resolution): string | undefined {
  if (found === 'unknown' || found === 'beneath') return undefined;
  return found === 'covered' ? wildcardOver(name) : name;
}
