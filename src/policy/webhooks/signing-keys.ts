// The public keys of webhook providers, from the certificates that their messages name. Any client can name a
// certificate, so fetches are rate-limited for each account.

import { type KeyObject, X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type FetchReach, fetchBytes } from '../keys/fetch-bytes.ts';
import { KeyCache, KeysUnavailable } from '../keys/key-cache.ts';
import { RateLimiter } from '../rate-limiter.ts';

/** The most bytes of a certificate. */
const BYTES_MAX = 64 * 1024;
/** The times of the cache, in milliseconds. They may be long, as a new certificate has a new URL. */
const CACHE_TIMES = { fresh: 3_600_000, usable: 24 * 3_600_000, pause: 5000 };
/** The most cached certificates. */
const CACHED_MAX = 200;
/** The most cached URLs without a valid certificate. */
const FAILED_MAX = 500;
/** The rate limit of fetches for the webhooks of one account. */
const FETCH_RATE = { capacity: 20, windowMs: 60_000 };

/** The size of an RSA key, in bits: a smaller key is insecure, a larger one slow. */
const RSA_BITS = { min: 2048, max: 8192 };
/** The subjects of the certificates of Amazon SNS. */
const SNS_SUBJECT = /^sns(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?$/;

interface Signer {
  key: KeyObject;
  /** The validity of the certificate, in milliseconds of the wall clock. */
  validFrom: number;
  validTo: number;
}

/** The clocks of the cache. */
export interface Clocks {
  /** A monotonic clock, in milliseconds. */
  now(): number;
  /** The wall clock, in milliseconds. */
  time(): number;
}

/** A cache of certificates. It fetches each at most once an hour, and after a failure at most every 5 s. */
export class SigningKeys {
  readonly #reach: FetchReach;
  readonly #clocks: Clocks;
  readonly #fetches: RateLimiter;
  readonly #caches = new LRUCache<string, KeyCache<Signer>>({ max: CACHED_MAX });
  /** A separate cache, so that invented URLs do not evict those with a valid certificate. */
  readonly #failed = new LRUCache<string, KeyCache<Signer>>({ max: FAILED_MAX });

  constructor(reach: FetchReach, clocks: Clocks) {
    this.#reach = reach;
    this.#clocks = clocks;
    this.#fetches = new RateLimiter(FETCH_RATE, clocks.now);
  }

  /**
   * Finds the public key of a certificate.
   * @param url an https URL, which the caller has validated.
   * @param accountId the account of the rate limit.
   * @throws {KeysUnavailable} when the certificate cannot be fetched, or is not valid at this time.
   */
  async find(url: string, accountId: string): Promise<KeyObject> {
    const cache = this.#caches.get(url) ?? this.#failed.get(url) ?? this.#newCache(url);
    const { key, validFrom, validTo } = await cache.get(undefined, () => this.#fetches.take(accountId) === 0);
    const time = this.#clocks.time();
    if (time < validFrom || time > validTo) throw new KeysUnavailable(`${url} is not valid at this time`);
    return key;
  }

  #newCache(url: string): KeyCache<Signer> {
    const fetched = async () => {
      this.#failed.set(url, cache);
      const signer = await this.#fetch(url);
      this.#failed.delete(url);
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

/** Validates a certificate. @throws {Error} the reason why it is refused. */
function signerOf(pem: Buffer): Signer {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it is no certificate in PEM');
  const certificate = new X509Certificate(pem);
  if (!subjectsOf(certificate).some((name) => SNS_SUBJECT.test(name))) throw new Error('its subject is not Amazon SNS');
  const { publicKey: key } = certificate;
  const { modulusLength: bits = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType !== 'rsa' || bits < RSA_BITS.min || bits > RSA_BITS.max)
    throw new Error(`its key is not one of RSA with ${RSA_BITS.min} to ${RSA_BITS.max} bits`);
  return { key, validFrom: Date.parse(certificate.validFrom), validTo: Date.parse(certificate.validTo) };
}

/** The common names and the host names of a certificate. */
function subjectsOf({ subject, subjectAltName = '' }: X509Certificate): string[] {
  const common = (subject ?? '').split('\n').flatMap((line) => (line.startsWith('CN=') ? line.slice(3) : []));
  const hosts = subjectAltName.split(', ').flatMap((entry) => (entry.startsWith('DNS:') ? entry.slice(4) : []));
  return [...common, ...hosts];
}
