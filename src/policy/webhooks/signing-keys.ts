// The keys that senders of webhooks sign with, from the certificates that their messages name. Whoever can send a request
// can name one, so what is fetched is limited for each account.

import { type KeyObject, X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type FetchReach, fetchBytes } from '../keys/fetch-bytes.ts';
import { KeyCache, KeysUnavailable } from '../keys/key-cache.ts';
import { RateLimiter } from '../rate-limiter.ts';

const BYTES_MAX = 64 * 1024;
/** Milliseconds. A sender that changes its certificate names another URL. */
const CACHE_TIMES = { fresh: 3_600_000, usable: 24 * 3_600_000, pause: 5000 };
/** Certificates that are kept. */
const KEPT_MAX = 200;
/** URLs that are remembered without there being a certificate. */
const TRIED_MAX = 500;
/** How often a certificate may be fetched in a minute for what is sent to one account. */
const FETCHES = { capacity: 20, windowMs: 60_000 };

/** Bits of a key of RSA: fewer are not safe, and more take long. */
const BITS = { min: 2048, max: 8192 };
/** What certificates of Amazon SNS are for. */
const SUBJECT = /^sns(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?$/;

interface Signer {
  key: KeyObject;
  /** The wall clock, in milliseconds. */
  validFrom: number;
  validTo: number;
}

export interface Clocks {
  /** A clock that never goes back, in milliseconds. */
  now(): number;
  /** The wall clock, in milliseconds. */
  time(): number;
}

/** Certificates are fetched once an hour at most, and once in 5 s where they cannot be had. */
export class SigningKeys {
  readonly #reach: FetchReach;
  readonly #clocks: Clocks;
  readonly #fetches: RateLimiter;
  readonly #caches = new LRUCache<string, KeyCache<Signer>>({ max: KEPT_MAX });
  /** Apart, so that URLs that somebody thinks up push out none of those that lead to a certificate. */
  readonly #tried = new LRUCache<string, KeyCache<Signer>>({ max: TRIED_MAX });

  constructor(reach: FetchReach, clocks: Clocks) {
    this.#reach = reach;
    this.#clocks = clocks;
    this.#fetches = new RateLimiter(FETCHES, clocks.now);
  }

  /**
   * @param url of https. Where it leads is the caller's to check.
   * @param accountId for whom it would be fetched.
   * @throws {KeysUnavailable}
   */
  async find(url: string, accountId: string): Promise<KeyObject> {
    const cache = this.#caches.get(url) ?? this.#tried.get(url) ?? this.#unknown(url);
    const { key, validFrom, validTo } = await cache.get(undefined, () => this.#fetches.take(accountId) === 0);
    const time = this.#clocks.time();
    if (time < validFrom || time > validTo) throw new KeysUnavailable(`${url} is not valid at this time`);
    return key;
  }

  #unknown(url: string): KeyCache<Signer> {
    const fetched = async () => {
      this.#tried.set(url, cache);
      const signer = await this.#fetch(url);
      this.#tried.delete(url);
      this.#caches.set(url, cache);
      return signer;
    };
    const cache = new KeyCache(fetched, CACHE_TIMES, this.#clocks.now);
    return cache;
  }

  async #fetch(url: string): Promise<Signer> {
    try {
      const wanted = { type: 'application/x-pem-file, */*', bytesMax: BYTES_MAX };
      return signerOf(await fetchBytes(new URL(url), wanted, this.#reach));
    } catch (error) {
      throw new Error(`${url} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** @throws with what is wrong with it. */
function signerOf(pem: Buffer): Signer {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it is no certificate in PEM');
  const certificate = new X509Certificate(pem);
  if (!subjectsOf(certificate).some((name) => SUBJECT.test(name))) throw new Error('its subject is not Amazon SNS');
  const { publicKey: key } = certificate;
  const { modulusLength: bits = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType !== 'rsa' || bits < BITS.min || bits > BITS.max)
    throw new Error(`its key is not one of RSA with ${BITS.min} to ${BITS.max} bits`);
  return { key, validFrom: Date.parse(certificate.validFrom), validTo: Date.parse(certificate.validTo) };
}

/** Common names, and names of hosts. */
function subjectsOf({ subject, subjectAltName = '' }: X509Certificate): string[] {
  const common = (subject ?? '').split('\n').flatMap((line) => (line.startsWith('CN=') ? line.slice(3) : []));
  const hosts = subjectAltName.split(', ').flatMap((entry) => (entry.startsWith('DNS:') ? entry.slice(4) : []));
  return [...common, ...hosts];
}
