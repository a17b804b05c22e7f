// The cookies of browsers that sign in. Their names’ prefix makes browsers hold them to this host, over TLS (or on loopback).

import { PASSKEY_COOKIE, SESSION_COOKIE } from '../../edge/codec/own-cookies.ts';

/** The token of a browser session, and the sealed challenge for a passkey. */
export type SignInCookie = typeof SESSION_COOKIE | typeof PASSKEY_COOKIE;

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';
/** What they are in lives no longer; seconds. */
const LIFE_SECONDS: Record<SignInCookie, number> = { [SESSION_COOKIE]: 30 * 24 * 60 * 60, [PASSKEY_COOKIE]: 5 * 60 };

/** The value that a request brings; undefined when it has no such cookie. */
export function readCookie(header: string | undefined, name: SignInCookie = SESSION_COOKIE): string | undefined {
  const pair = header?.split(';').find((text) => text.trimStart().startsWith(`${name}=`));
  return pair?.trim().slice(name.length + 1);
}

/** The `Set-Cookie` that gives a browser its value, or takes it away: null. */
export function writeCookie(value: string | null, name: SignInCookie = SESSION_COOKIE): string {
  return `${name}=${value ?? ''}; Max-Age=${value === null ? 0 : LIFE_SECONDS[name]}; ${ATTRIBUTES}`;
}
