// How senders of webhooks sign them. Nearly all do it with an HMAC; they differ in where it is, and what it is about.

import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Responded } from '../../http/module.ts';
import type { WebhookMessage } from './message.ts';

/** A sender that a secret is shared with, or a key that its users are shown. Whatever it sends is judged at once. */
export interface SharedSecretProvider {
  isKeyPublished?: undefined;
  /** The signatures that came along: one of them has to fit. */
  signatures(message: WebhookMessage): readonly string[];
  /** When it was signed, as the sender wrote it, in a list of one; missing where a signature does not say. */
  timestamp?(message: WebhookMessage): readonly string[];
  /** Whether one of the signatures is that of the message. */
  hasValidSignature(message: WebhookMessage, signatures: readonly string[], secret: string, timestamp: string): boolean;
  /** What is wrong with a secret, to be read behind its name. */
  secretProblem?(secret: string): string | undefined;
  /** The gateway's own answer to a message by which the sender tests the endpoint; undefined for all others. */
  answer?(message: WebhookMessage, secret: string, isSigned: boolean): Responded | undefined;
}

/** A sender that signs with one key for everybody, and publishes with what to check it: no secret is shared with it. */
export interface PublishedKeyProvider {
  isKeyPublished: true;
  /**
   * What is wrong with a message; undefined where it is signed as it should be, and not too long ago.
   * @param time now, in milliseconds.
   * @param keyAt brings the key in the certificate that is at a URL.
   * @throws {KeysUnavailable} when nothing can be said about it.
   */
  problem(
    message: WebhookMessage,
    time: number,
    keyAt: (certificateUrl: string) => Promise<KeyObject>,
  ): Promise<string | undefined>;
  secretProblem?: undefined;
  answer?: undefined;
}

/** Texts that are found in a message: signatures, timestamps. */
type Find = (message: WebhookMessage) => readonly string[];

interface Hmac {
  /** Of the signature. */
  in: Find;
  /** Of the timestamp, which is then part of what is signed. */
  at?: Find;
  /** SHA-256 if left out. */
  algorithm?: 'sha1' | 'sha256' | 'sha512';
  /** Hexadecimal if left out. */
  encoding?: 'base64';
  /** What is signed: the body if left out; undefined when the message has not got it. */
  signed?(message: WebhookMessage, timestamp: string): readonly (string | Buffer)[] | undefined;
  /** The secret is not the key itself but its Base64, perhaps behind `whsec_`. */
  isKeyEncoded?: boolean;
  answer?: SharedSecretProvider['answer'];
}

/** A sender that signs with an HMAC. */
export function hmac({ algorithm = 'sha256', encoding, signed, isKeyEncoded, ...row }: Hmac): SharedSecretProvider {
  return {
    signatures: row.in,
    timestamp: row.at,
    answer: row.answer,
    secretProblem: isKeyEncoded
      ? (secret) => (decodedKey(secret) ? undefined : 'must be the secret as the sender shows it, which is Base64')
      : undefined,
    hasValidSignature(message, signatures, secret, timestamp) {
      const key = isKeyEncoded ? decodedKey(secret) : secret;
      const parts = signed ? signed(message, timestamp) : [message.body];
      if (!key || !parts) return false;
      const hash = createHmac(algorithm, key);
      for (const part of parts) hash.update(part);
      // Made once: a stranger may send many signatures, and a large body.
      const expected = hash.digest(encoding ?? 'hex');
      return signatures.some((signature) => isSameText(encoding ? signature : signature.toLowerCase(), expected));
    },
  };
}

/** A header field's value, behind a prefix; nothing where the field or the prefix is missing. */
export function header(name: string, prefix = ''): Find {
  return (message) => {
    const value = message.header(name);
    return value?.startsWith(prefix) ? [value.slice(prefix.length)] : [];
  };
}

/** The values of `key` in a header field such as `t=1,v1=ab,v1=cd`. */
export function fieldPairs(name: string, key: string, separator = ','): Find {
  return (message) =>
    (message.header(name) ?? '')
      .split(separator)
      .map((pair) => pair.trim())
      .flatMap((pair) => (pair.startsWith(`${key}=`) ? pair.slice(key.length + 1) : []));
}

/** What is signed, by many: timestamp and body, and something between them. */
export const timestampAndBody =
  (between: string, before = '') =>
  (message: WebhookMessage, timestamp: string) => [before + timestamp + between, message.body];

/** Whether two texts are the same, found in a time that does not tell where they differ. */
export function isSameText(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** @returns undefined unless it is Base64 of at least one byte: an empty key would be anybody's. */
function decodedKey(secret: string): Buffer | undefined {
  const encoded = secret.replace(/^whsec_/, '');
  return /^[A-Za-z0-9+/]{4,}={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : undefined;
}
