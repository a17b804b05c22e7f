// The public keys of an issuer of tokens, as it publishes them (RFC 7517), kept for a while.

import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type LocalJWKSet,
} from 'jose';
import { KeyCache } from '../keys/key-cache.ts';

/** Milliseconds. */
const KEEPING = { fresh: 15 * 60_000, usable: 60 * 60_000, pause: 5000 };
/** Milliseconds between two looks for keys that are not in the set. */
const UNKNOWN_KEY_PAUSE = 30_000;

/** Keys that a token is tried with. */
const KEYS_MAX = 16;

export class JwksCache {
  readonly #kept: KeyCache<LocalJWKSet>;

  /**
   * @param fetch brings the set; nothing is fetched before the first token.
   * @param now a clock that never goes back, in milliseconds.
   */
  constructor(fetch: () => Promise<unknown>, now: () => number) {
    // What it is, is checked there.
    const load = async () => createLocalJWKSet((await fetch()) as JSONWebKeySet);
    this.#kept = new KeyCache(load, KEEPING, now);
  }

  /** The keys that are there and that a token may be signed with; it does not wait for any. */
  async knownKeys(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey[]> {
    const keys = this.#kept.peek();
    return keys ? matching(keys, header, token) : [];
  }

  /**
   * The same for a token of which no key is known, which is looked for anew, every 30 s at most: issuers change their keys.
   * @throws {KeysUnavailable}
   */
  async findKeys(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey[]> {
    return matching(await this.#kept.get(UNKNOWN_KEY_PAUSE), header, token);
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
    // A token that names no key may be signed with any that fits its algorithm.
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    const all: CryptoKey[] = [];
    for await (const key of error) if (all.push(key) === KEYS_MAX) break;
    return all;
  }
}
