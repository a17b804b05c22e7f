// Fetches the documents of identity providers over HTTPS. Unless the operator allows private addresses, only public ones are
// reached; otherwise an author of a policy could reach the gateway's private network (SSRF).

import type { ReachableHosts } from '../../net/reachable-hosts.ts';
import { fetchBytes } from '../keys/fetch-bytes.ts';

const BYTES_MAX = 512 * 1024;
/** How an operator allows other addresses. */
export const OTHERS = 'BACKEND_HOSTS of the gateway names others that may be reached, and POLICY_FETCH=any allows all';
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks a URL before a fetch. @returns the mistake, worded to be read after its path; undefined when there is none.
 * @param hosts what may be reached; any: also plain HTTP to this machine.
 */
export function fetchProblem(text: string, hosts: ReachableHosts): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = hosts.isAny && url?.protocol === 'http:' && LOOPBACK.test(url.hostname);
  if (!url || url.username || url.password || !(url.protocol === 'https:' || isPlain))
    return 'must be a URL that begins with https://, without a user name';
  if (!hosts.mayReach(url.hostname.replace(/^\[|\]$/g, ''))) return `must be at a public address (${OTHERS})`;
  return undefined;
}

/**
 * Fetches a JSON document. Redirects are not followed, as they could lead to a private address.
 * @throws {Error} unless `fetchProblem` accepts the URL, every address of its host is allowed, and the response is 200
 * with at
 *   most 512 KiB of JSON within 5 s.
 */
export async function fetchJson(url: string, hosts: ReachableHosts): Promise<unknown> {
  const problem = fetchProblem(url, hosts);
  if (problem) throw new Error(`${url} ${problem}`);
  try {
    const limits = { type: 'application/json', bytesMax: BYTES_MAX };
    return JSON.parse((await fetchBytes(new URL(url), limits, { hosts })).toString());
  } catch (error) {
    throw new Error(`${url} could not be fetched: ${error instanceof Error ? error.message : String(error)}`);
  }
}
