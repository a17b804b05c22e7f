// The cookie of a browser session. Its name’s prefix makes browsers hold it to this host, over TLS (or on loopback).

import { SESSION_COOKIE } from '../../edge/codec/own-cookies.ts';

const NAME = SESSION_COOKIE;
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';
/** A session lives no longer; seconds. */
const LIFE_SECONDS = 30 * 24 * 60 * 60;

/** The token that a request brings; undefined when it has no such cookie. */
export function readCookie(header: string | undefined): string | undefined {
  const pair = header?.split(';').find((text) => text.trimStart().startsWith(`${NAME}=`));
  return pair?.trim().slice(NAME.length + 1);
}

/** The `Set-Cookie` that gives a browser its token, or takes it away: null. */
export function writeCookie(token: string | null): string {
  return `${NAME}=${token ?? ''}; Max-Age=${token === null ? 0 : LIFE_SECONDS}; ${ATTRIBUTES}`;
}
