// Which URLs a policy may ask.

import { isIP } from 'node:net';
import { isPublicAddress } from '../../net/public-addresses.ts';
import { isInternalName } from '../../tunnel/endpoints/endpoint-registry.ts';

/** The longest URL, in characters. */
export const URL_MAX = 8192;

/** The name of the internal endpoint that a URL is for; undefined when it is for a server. No such name is ever looked up in DNS. */
export function internalNameOf({ hostname }: URL): string | undefined {
  const name = hostname.replace(/\.$/, '');
  return isInternalName(name) ? name : undefined;
}

/**
 * Checks a URL before it is asked. The addresses of a name are only known when it is looked up, and checked then.
 * @param isPrivateAllowed whether private addresses and plain HTTP are allowed; internal endpoints are in any case.
 * @returns the mistake, worded to be read after the URL's name; undefined when there is none.
 */
export function callUrlProblem(text: string, isPrivateAllowed: boolean): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (text.length > URL_MAX) return `must have at most ${URL_MAX} characters`;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    return 'must be a URL that begins with https://, without a user name';
  if (internalNameOf(url) !== undefined)
    return url.port === '' ? undefined : 'must name an internal endpoint without a port: it has none';
  if (isPrivateAllowed) return undefined;
  if (url.protocol !== 'https:')
    return 'must begin with https:// (POLICY_FETCH=any of the gateway lets policies ask over http:// too)';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) && !isPublicAddress(host))
    return 'must be at a public address (POLICY_FETCH=any of the gateway lets policies reach others)';
  return undefined;
}
