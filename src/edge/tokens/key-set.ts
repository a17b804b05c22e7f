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

/** Milliseconds after which keys are fetched again. */
const FRESH = 15 * 60_000;
/** Milliseconds for which keys are used while newer ones cannot be had. */
const USABLE = 60 * 60_000;
/** Milliseconds between two attempts: after a failure, and for keys that are not in the set. */
const PAUSE = { failed: 5000, unknownKey: 30_000 };

/** Keys that a token is tried with. */
const KEYS_MAX = 16;

/** Keys that cannot be had, and so no token can be judged. */
export class KeysUnavailable extends Error {}

export class KeySet {
  readonly #fetch: () => Promise<unknown>;
  readonly #now: () => number;
  #keys: { find: LocalJWKSet; since: number } | undefined;
  #failure: { message: string; at: number } | undefined;
  #underWay: Promise<void> | undefined;

  /**
   * @param fetch brings the set; nothing is fetched before the first token.
   * @param now a clock that never goes back, in milliseconds.
   */
  constructor(fetch: () => Promise<unknown>, now: () => number) {
    this.#fetch = fetch;
    this.#now = now;
  }

  /**
   * The keys that a token may be signed with. One that is not there is looked for anew, every 30 s at most: issuers change
   * their keys.
   * @throws {KeysUnavailable}
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey[]> {
    const found = await matching(await this.#current(FRESH), header, token);
    return found.length > 0 ? found : matching(await this.#current(PAUSE.unknownKey), header, token);
  }

  /** @param maxAge of keys that are not fetched again, in milliseconds. */
  async #current(maxAge: number): Promise<LocalJWKSet> {
    if (!this.#keys || this.#age() >= maxAge) await this.#refresh();
    if (this.#keys && this.#age() < USABLE) return this.#keys.find;
    throw new KeysUnavailable(this.#failure?.message ?? 'there are no keys');
  }

  #age(): number {
    return this.#keys ? this.#now() - this.#keys.since : Number.POSITIVE_INFINITY;
  }

  async #refresh(): Promise<void> {
    if (this.#failure && this.#now() - this.#failure.at < PAUSE.failed) return;
    this.#underWay ??= this.#load().finally(() => {
      this.#underWay = undefined;
    });
    await this.#underWay;
  }

  async #load(): Promise<void> {
    try {
      const find = createLocalJWKSet((await this.#fetch()) as JSONWebKeySet); // It is checked there.
      this.#keys = { find, since: this.#now() };
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { message: error instanceof Error ? error.message : String(error), at: this.#now() };
    }
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
