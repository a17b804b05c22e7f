// Which URLs a policy may ask.

import type { ReachableHosts } from '../../net/reachable-hosts.ts';
import { isInternalName } from '../../tunnel/endpoints/endpoint-registry.ts';
import { OTHERS } from '../auth/fetch-json.ts';

/** The longest URL, in characters. */
export const URL_MAX = 8192;

/** The name of the internal endpoint that a URL is for; undefined when it is for a server. No such name is ever looked up in DNS. */
export function internalNameOf({ hostname }: URL): string | undefined {
  const name = hostname.replace(/\.$/, '');
  return isInternalName(name) ? name : undefined;
}

/**
 * Checks a URL before it is asked. The addresses of a name are only known when it is looked up, and checked then.
 * @param hosts what may be reached; any: plain HTTP, too. Internal endpoints are in any case.
 * @returns the mistake, worded to be read after the URL's name; undefined when there is none.
 */
export function callUrlProblem(text: string, hosts: ReachableHosts): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (text.length > URL_MAX) return `must have at most ${URL_MAX} characters`;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    return 'must be a URL that begins with https://, without a user name';
  if (internalNameOf(url) !== undefined) return undefined;
  if (hosts.isAny) return undefined;
  if (url.protocol !== 'https:')
    return 'must begin with https:// (POLICY_FETCH=any of the gateway lets policies ask over http:// too)';
  if (!hosts.mayReach(url.hostname.replace(/^\[|\]$/g, ''))) return `must be at a public address (${OTHERS})`;
  return undefined;
}
