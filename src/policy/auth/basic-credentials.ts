// Basic authentication (RFC 7617): parses the credentials of a visitor and compares them with a list.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { HeaderList } from '../../http/header-list.ts';
import type { ModuleRefusal } from '../../http/module.ts';

/** A user name and a password. */
export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

/** The realm of a challenge when the policy names none. */
export const DEFAULT_REALM = 'gateway';

const HEADER = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 allows none in either part
const CONTROL = /[\0-\x1f\x7f]/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses the credentials of a request.
 * @returns undefined unless there is exactly one `Authorization` field with a user name and a password in UTF-8 without
 * control
 *   characters, in canonical Base64. The strictness rules out that the upstream parses the field differently.
 */
export function readBasicCredentials(fields: HeaderList): BasicCredentials | undefined {
  const [value, ...others] = fields.all('authorization');
  const encoded = others.length === 0 ? HEADER.exec(value ?? '')?.[1] : undefined;
  if (!encoded) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return undefined;
  try {
    const pair = utf8.decode(bytes);
    return CONTROL.test(pair) ? undefined : splitCredentials(pair);
  } catch {
    return undefined; // The bytes are not UTF-8.
  }
}

/** Splits `user:password` at its first colon; undefined when there is none. */
export function splitCredentials(pair: string): BasicCredentials | undefined {
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  return { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/** The digest of credentials, whose length does not depend on them. */
export function credentialsDigest({ username, password }: BasicCredentials): Buffer {
  return createHash('sha256').update(`${username}:${password}`).digest();
}

/**
 * Whether the digest of the credentials is in a list. The time does not depend on the position, or on whether it is
 * there.
 */
export function matchesDigest(presented: BasicCredentials, digests: readonly Buffer[]): boolean {
  const digest = credentialsDigest(presented);
  let found = false;
  for (const other of digests) found = timingSafeEqual(digest, other) || found;
  return found;
}

/** The refusal of a visitor, with a challenge for a password. */
export function basicChallenge(realm: string, presented: BasicCredentials | undefined): ModuleRefusal {
  const quoted = (realm || DEFAULT_REALM).replace(/["\\]/g, '\\$&');
  return {
    kind: 'refuse',
    error: 'badCredentials',
    fields: [['WWW-Authenticate', `Basic realm="${quoted}", charset="UTF-8"`]],
    reason: presented
      ? 'the user name and the password are none of those that are let in'
      : 'there is no well-formed user name and password in Authorization',
  };
}
