// User names and passwords in `Authorization: Basic` (RFC 7617): what a visitor presents, and whether it is one of a list.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { HeaderList } from '../../http/header-list.ts';
import type { ModuleRefusal } from '../../http/module.ts';

export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

/** What visitors are told they need a password for, where nothing else is said. */
export const DEFAULT_REALM = 'gateway';

const HEADER = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 allows none in either part
const CONTROL = /[\0-\x1f\x7f]/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * What the visitor presents.
 * @returns undefined unless there is exactly one `Authorization`, and it holds a user name and a password in UTF-8 without
 *   control characters, in canonical Base64: two readings of one header must not be possible.
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
    return undefined; // It is not UTF-8.
  }
}

/** Splits `user:password` at its first colon; undefined where there is none. */
export function splitCredentials(pair: string): BasicCredentials | undefined {
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  return { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/** What stands for a user name and its password: of the same length for all of them. */
export function credentialsDigest({ username, password }: BasicCredentials): Buffer {
  return createHash('sha256').update(`${username}:${password}`).digest();
}

/** Whether one of these is what was presented. It takes as long whether it is the first, the last or none. */
export function matchesDigest(presented: BasicCredentials, digests: readonly Buffer[]): boolean {
  const digest = credentialsDigest(presented);
  let found = false;
  for (const other of digests) found = timingSafeEqual(digest, other) || found;
  return found;
}

/** Turns a visitor away, and says that a password would help. */
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
