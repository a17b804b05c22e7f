// How webhook providers sign. Nearly all use an HMAC; they differ in the place of the signature and in the signed text.

import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Responded } from '../../http/module.ts';
import type { WebhookMessage } from './message.ts';

/** A provider with a shared secret, or with a public key that it shows to its users. */
export interface SharedSecretProvider {
  isKeyPublished?: undefined;
  /** The signatures of a message, of which one must be valid. */
  signatures(message: WebhookMessage): readonly string[];
  /** The timestamp of the signature, in a list of one. Left out when signatures of this provider have none. */
  timestamp?(message: WebhookMessage): readonly string[];
  /** Whether one of the signatures is valid. */
  hasValidSignature(message: WebhookMessage, signatures: readonly string[], secret: string, timestamp: string): boolean;
  /** The mistake in a secret, worded to be read after its name; undefined when there is none. */
  secretProblem?(secret: string): string | undefined;
  /** The gateway's own response to a challenge; undefined for all other messages. */
  answer?(message: WebhookMessage, secret: string, isSigned: boolean): Responded | undefined;
}

/** A provider that signs with one key for all customers and publishes its certificate. It needs no shared secret. */
export interface PublishedKeyProvider {
  isKeyPublished: true;
  /**
   * The reason why a message is refused; undefined when its signature is valid and recent.
   * @param time the current time, in milliseconds.
   * @param keyAt fetches the public key of the certificate at a URL.
   * @throws {KeysUnavailable} when the certificate cannot be fetched.
   */
  problem(
    message: WebhookMessage,
    time: number,
    keyAt: (certificateUrl: string) => Promise<KeyObject>,
  ): Promise<string | undefined>;
  secretProblem?: undefined;
  answer?: undefined;
}

/** Extracts signatures or timestamps from a message. */
type Extractor = (message: WebhookMessage) => readonly string[];

/** The signature scheme of a provider. */
interface HmacScheme {
  /** The place of the signature. */
  in: Extractor;
  /** The place of the timestamp, which the signature then covers. */
  at?: Extractor;
  /** The hash; SHA-256 when left out. */
  algorithm?: 'sha1' | 'sha256' | 'sha512';
  /** The encoding of the signature; hexadecimal when left out. */
  encoding?: 'base64';
  /** The signed text; the body when left out. It returns undefined when the message lacks a part of it. */
  signed?(message: WebhookMessage, timestamp: string): readonly (string | Buffer)[] | undefined;
  /** Whether the secret is the Base64 of the key, optionally with the prefix `whsec_`. */
  isKeyEncoded?: boolean;
  answer?: SharedSecretProvider['answer'];
}

/** A provider that signs with an HMAC. */
export function hmac({
  algorithm = 'sha256',
  encoding,
  signed,
  isKeyEncoded,
  ...scheme
}: HmacScheme): SharedSecretProvider {
  return {
    signatures: scheme.in,
    timestamp: scheme.at,
    answer: scheme.answer,
    secretProblem: isKeyEncoded
      ? (secret) => (decodedKey(secret) ? undefined : 'must be the secret as the sender shows it, which is Base64')
      : undefined,
    hasValidSignature(message, signatures, secret, timestamp) {
      const key = isKeyEncoded ? decodedKey(secret) : secret;
      const parts = signed ? signed(message, timestamp) : [message.body];
      if (!key || !parts) return false;
      const hash = createHmac(algorithm, key);
      for (const part of parts) hash.update(part);
      // The hash is computed once: a stranger may send many signatures and a large body.
      const expected = hash.digest(encoding ?? 'hex');
      return signatures.some((signature) => isSameText(encoding ? signature : signature.toLowerCase(), expected));
    },
  };
}

/** Extracts the value of a header field without its prefix; nothing when the field or the prefix is missing. */
export function header(name: string, prefix = ''): Extractor {
  return (message) => {
    const value = message.header(name);
    return value?.startsWith(prefix) ? [value.slice(prefix.length)] : [];
  };
}

/** Extracts the values of `key` from a header field such as `t=1,v1=ab,v1=cd`. */
export function fieldPairs(name: string, key: string, separator = ','): Extractor {
  return (message) =>
    (message.header(name) ?? '')
      .split(separator)
      .map((pair) => pair.trim())
      .flatMap((pair) => (pair.startsWith(`${key}=`) ? pair.slice(key.length + 1) : []));
}

/** The signed text of many providers: the timestamp and the body with a separator. */
export const timestampAndBody =
  (between: string, before = '') =>
  (message: WebhookMessage, timestamp: string) => [before + timestamp + between, message.body];

/** Compares two texts in constant time. */
export function isSameText(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** Decodes a Base64 key. @returns undefined when it is not Base64, or empty, as anybody has an empty key. */
function decodedKey(secret: string): Buffer | undefined {
  const encoded = secret.replace(/^whsec_/, '');
  return /^[A-Za-z0-9+/]{4,}={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : undefined;
}
