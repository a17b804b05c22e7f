// The endpoint of the name in a TLS handshake, on whichever node it is.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { HttpListenerContext } from '../pipeline/listener-context.ts';

export interface NamedEndpoint {
  /** Undefined for a name that nothing serves. */
  endpoint: LiveEndpoint | undefined;
  /** Whether a name without an endpoint is nobody's. @throws what the lookup failed with. */
  isNobodys(): boolean;
}

/** @param name undefined when the visitor named nobody. It never rejects: a failure shows when the status is asked for. */
export async function findNamedEndpoint(
  { find, resolve }: HttpListenerContext,
  name: string | undefined,
): Promise<NamedEndpoint> {
  const known = name === undefined ? undefined : find(name);
  if (known || name === undefined) return { endpoint: known, isNobodys: () => true };
  try {
    const found = await resolve(name);
    const endpoint = typeof found === 'object' && !('origin' in found) ? found : undefined;
    return { endpoint, isNobodys: () => found === 'unknown' };
  } catch (error) {
    const isNobodys = () => {
      throw error;
    };
    return { endpoint: undefined, isNobodys };
  }
}
