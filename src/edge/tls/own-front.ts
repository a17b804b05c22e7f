// What the HTTP of one visitor's connection is served from: what its TLS was agreed for, and nothing else.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { handlingOf } from '../handling.ts';
import type { Front, SharedFront } from '../http/front.ts';
import { spokenTo } from '../http2/upstream.ts';
import { isSameTerms } from './terms.ts';

/**
 * @param name that the visitor asked for; undefined when that was none.
 * @param chosen the endpoint whose turn it was when the visitor came: it gets the first request.
 * @param isAdmitted whether the connection has passed what connections to it have to.
 */
export function ownFront(
  front: SharedFront,
  name: string | undefined,
  chosen: LiveEndpoint | undefined,
  isAdmitted: boolean,
): Front {
  const handling = chosen && handlingOf(chosen);
  const terms = handling?.tls;
  let first = chosen;
  return {
    ...front,
    admitted: handling && isAdmitted ? new Set([handling]) : undefined,
    find(hostname) {
      // A connection is for the name that its certificate was chosen by (RFC 9110, section 7.4).
      if (name !== undefined && hostname !== name) return 'misdirected';
      const found = first?.isOpen && hostname === name ? first : front.find(hostname);
      first = undefined;
      if (found?.proto !== 'https') return undefined;
      // Who would not be let in on the terms of now must not come in on those of before, or on none.
      return isSameTerms(handlingOf(found)?.tls, terms) ? spokenTo(found) : 'misdirected';
    },
  };
}
