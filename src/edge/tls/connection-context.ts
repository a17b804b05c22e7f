// What the HTTP of one visitor's connection is served from: what its TLS was agreed for, and nothing else.

import { isSameTlsParameters } from '../../http/tls-terms.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { HttpListenerContext, ListenerContext } from '../pipeline/listener-context.ts';
import { endpointRulesOf } from '../pipeline/rules/endpoint-rules.ts';
import { asHttp1Endpoint } from '../upstream/http2/http1-adapter.ts';

/**
 * @param name that the visitor asked for; undefined when that was none.
 * @param chosen the endpoint whose turn it was when the visitor came: it gets the first request.
 * @param isAdmitted whether the connection has passed what connections to it have to.
 */
export function connectionContext(
  listener: HttpListenerContext,
  name: string | undefined,
  chosen: LiveEndpoint | undefined,
  isAdmitted: boolean,
): ListenerContext {
  const rules = chosen && endpointRulesOf(chosen);
  const parameters = rules?.tls;
  let first = chosen;
  const accept = (found: LiveEndpoint | undefined) => {
    if (found?.proto !== 'https') return undefined;
    // A connection that the TLS parameters of now would not allow must not get in on earlier ones, or on none.
    return isSameTlsParameters(endpointRulesOf(found)?.tls, parameters) ? asHttp1Endpoint(found) : 'misdirected';
  };
  return {
    ...listener,
    admitted: rules && isAdmitted ? new Set([rules]) : undefined,
    find(hostname) {
      // A connection is for the name that its certificate was chosen by (RFC 9110, section 7.4).
      if (name !== undefined && hostname !== name) return 'misdirected';
      const found = first?.isOpen && hostname === name ? first : listener.find(hostname);
      first = undefined;
      return accept(found);
    },
    async resolve(hostname) {
      if (name !== undefined && hostname !== name) return 'misdirected';
      const found = await listener.resolve(hostname);
      return typeof found === 'object' && !('origin' in found) ? (accept(found) ?? 'offline') : found;
    },
  };
}
