// A cache of the public keys of a token issuer (JWKS, RFC 7517).

import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type LocalJWKSet,
} from 'jose';
import type { ReachableHosts } from '../../net/reachable-hosts.ts';
import { KeyCache } from '../keys/key-cache.ts';
import { fetchJson } from './fetch-json.ts';

/** When a set is refreshed, when it is no longer used, and how long a failed fetch waits for the next; milliseconds. */
const CACHE_TIMES = { fresh: 15 * 60_000, usable: 60 * 60_000, pause: 5000 };
/** The least time between two fetches for an unknown key; milliseconds. */
const UNKNOWN_KEY_PAUSE = 30_000;

/** The most keys that are tried for a token. */
const KEYS_MAX = 16;

/**
 * The key set (JWKS) of one issuer.
 *
 * It is not the `createRemoteJWKSet` of jose 6, although that takes a custom fetch: there, a set that is older than
 * `cacheMaxAge` is fetched while the token waits, and when that fails every token is refused although its key was known a
 * moment ago; a failed fetch has no pause before the next; and its ages are measured with `Date.now`, which a test cannot
 * move and a corrected wall clock can. Here a set is refreshed in the background and stays usable for an hour without its
 * issuer. The cache of signing certificates works in the same way, so that `KeyCache` is needed in any case. Which key
 * fits a token is still jose's decision (`createLocalJWKSet`).
 */
export class JwksCache {
  readonly #cache: KeyCache<LocalJWKSet>;

  /**
   * @param fetch fetches the set. It is not called before the first token.
   * @param now a monotonic clock, in milliseconds.
   */
  constructor(fetch: () => Promise<unknown>, now: () => number) {
    // jose validates the set.
    const load = async () => createLocalJWKSet((await fetch()) as JSONWebKeySet);
    this.#cache = new KeyCache(load, CACHE_TIMES, now);
  }

  /** The cached keys that may have signed a token. It never waits for a fetch. */
  async knownKeys(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey[]> {
    const keys = this.#cache.peek();
    return keys ? matching(keys, header, token) : [];
  }

  /**
   * The keys for a token without a cached key. The set is fetched again, at most every 30 s, as issuers rotate their keys.
   * @throws {KeysUnavailable} when the set cannot be fetched.
   */
  async findKeys(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey[]> {
    return matching(await this.#cache.get(UNKNOWN_KEY_PAUSE), header, token);
  }
}

async function matching(
  keys: LocalJWKSet,
  header: JWSHeaderParameters,
  token: FlattenedJWSInput,
): Promise<CryptoKey[]> {
  try {
    return [await keys(header, token)];
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return [];
    // A token without a `kid` may be signed with any key of its algorithm.
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    const all: CryptoKey[] = [];
    for await (const key of error) if (all.push(key) === KEYS_MAX) break;
    return all;
  }
}

/**
 * Fetches the keys of an issuer through its discovery document (OpenID Connect Discovery 1.0).
 * @param issuer the issuer's URL. The document must name exactly this issuer, so that no other document can be substituted.
 * @param hosts as for `fetchJson`.
 */
export async function fetchIssuerKeys(issuer: string, hosts: ReachableHosts): Promise<unknown> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const configuration = await fetchJson(url, hosts);
  const { issuer: named, jwks_uri: keys } = (configuration ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
  if (named !== issuer) throw new Error(`${url} is the configuration of another issuer`);
  if (typeof keys !== 'string') throw new Error(`${url} has no jwks_uri`);
  return fetchJson(keys, hosts);
}
