// Fetches the documents of identity providers: over HTTPS, and only from public addresses unless the operator lets policies
// reach others. Whoever may write a policy could have the gateway ask its neighbours otherwise.

import { isIP } from 'node:net';
import { isPublicAddress } from '../../net/public-addresses.ts';
import { fetchBytes } from '../keys/fetch-bytes.ts';

const BYTES_MAX = 512 * 1024;
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * What is wrong with a URL that is to be fetched, to be read behind its place.
 * @param isPrivateAllowed whether addresses that are not public may be asked, and this machine over HTTP.
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
 * Fetches a document in JSON. Redirections are not followed: they could lead anywhere.
 * @throws unless `fetchProblem` has nothing against the URL, each address of its host may be asked, and 200 with at most
 * 512 KiB of JSON is there within 5 s.
 */
export async function fetchJson(url: string, isPrivateAllowed: boolean): Promise<unknown> {
  const problem = fetchProblem(url, isPrivateAllowed);
  if (problem) throw new Error(`${url} ${problem}`);
  try {
    const wanted = { type: 'application/json', bytesMax: BYTES_MAX };
    return JSON.parse((await fetchBytes(new URL(url), wanted, { isPrivateAllowed })).toString());
  } catch (error) {
    throw new Error(`${url} could not be fetched: ${error instanceof Error ? error.message : String(error)}`);
  }
}
