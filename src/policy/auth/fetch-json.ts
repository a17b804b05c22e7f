// Fetches the documents of identity providers over HTTPS. Unless the operator allows private addresses, only public ones are
// reached; otherwise an author of a policy could reach the gateway's private network (SSRF).

import { isIP } from 'node:net';
import { isPublicAddress } from '../../net/public-addresses.ts';
import { fetchBytes } from '../keys/fetch-bytes.ts';

const BYTES_MAX = 512 * 1024;
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks a URL before a fetch. @returns the mistake, worded to be read after its path; undefined when there is none.
 * @param isPrivateAllowed whether private addresses are allowed, and plain HTTP to this machine.
 */
export function fetchProblem(text: string, isPrivateAllowed: boolean): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = isPrivateAllowed && url?.protocol === 'http:' && LOOPBACK.test(url.hostname);
  if (!url || url.username || url.password || !(url.protocol === 'https:' || isPlain))
    return 'must be a URL that begins with https://, without a user name';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!isPrivateAllowed && (LOOPBACK.test(url.hostname) || (isIP(host) && !isPublicAddress(host))))
    return 'must be at a public address (POLICY_FETCH=any of the gateway lets policies reach others)';
  return undefined;
}

/**
 * Fetches a JSON document. Redirects are not followed, as they could lead to a private address.
 * @throws {Error} unless `fetchProblem` accepts the URL, every address of its host is allowed, and the response is 200
 * with at
 *   most 512 KiB of JSON within 5 s.
 */
export async function fetchJson(url: string, isPrivateAllowed: boolean): Promise<unknown> {
  const problem = fetchProblem(url, isPrivateAllowed);
  if (problem) throw new Error(`${url} ${problem}`);
  try {
    const limits = { type: 'application/json', bytesMax: BYTES_MAX };
    return JSON.parse((await fetchBytes(new URL(url), limits, { isPrivateAllowed })).toString());
  } catch (error) {
    throw new Error(`${url} could not be fetched: ${error instanceof Error ? error.message : String(error)}`);
  }
}
