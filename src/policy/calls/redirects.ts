// Follows redirects (RFC 9110, section 15.4).

import { OutboundFailed, type OutboundRequest, type OutboundResponse } from '../../http/outbound.ts';
import { internalNameOf } from './call-url.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** The fields that another server gets, too: the others may hold a secret that is meant for the first one. */
const FOR_ALL = /^(?:accept|accept-.*|content-type|user-agent|x-forwarded-for|cdn-loop|service-operation-id)$/i;

/**
 * Sends a request, and follows the redirects of its responses. Each place is checked by `send`. To an internal endpoint only
 * that endpoint itself redirects: what another server answers must not choose among those of the account.
 * @param max the most redirects; with 0 a redirect is a response like others.
 * @throws {OutboundFailed} when there are more, or one leads to an internal endpoint.
 */
export async function sendFollowing(
  request: OutboundRequest,
  max: number,
  send: (request: OutboundRequest) => Promise<OutboundResponse>,
): Promise<OutboundResponse> {
  let current = request;
  for (let followed = 0; ; followed++) {
    const response = await send(current);
    const next = max > 0 ? redirected(current, response) : undefined;
    if (!next) return response;
    if (followed === max) throw new OutboundFailed(`there are more than ${max} redirects`);
    if (internalNameOf(next.url) !== undefined && next.url.origin !== current.url.origin)
      throw new OutboundFailed(
        `${current.url.host} redirects to the internal endpoint ${next.url.host}, which it may not`,
      );
    current = next;
  }
}

/** The request that a response redirects to; undefined when it is none that leads anywhere. */
function redirected(request: OutboundRequest, { status, fields }: OutboundResponse): OutboundRequest | undefined {
  const location = REDIRECTS.has(status) ? fields.get('location') : undefined;
  if (location === undefined || !URL.canParse(location, request.url)) return undefined;
  const url = new URL(location, request.url);
  // A POST whose result is elsewhere becomes a GET, as all browsers do it (WHATWG Fetch, section 4.4).
  const becomesGet = status === 303 || (request.method === 'POST' && (status === 301 || status === 302));
  const kept = request.fields
    .filter(([name]) => url.origin === request.url.origin || FOR_ALL.test(name))
    .filter(([name]) => !becomesGet || !/^content-/i.test(name));
  if (becomesGet) return { method: 'GET', url, fields: kept, body: undefined };
  return { ...request, url, fields: kept };
}
