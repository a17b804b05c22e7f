// What browsers are answered while visitors sign in and out. Nothing of it may be kept by a cache.

import type { Responded } from '../../http/module.ts';
import { SIGN_IN_PATH } from '../../http/visitor-errors.ts';

const NO_STORE = ['Cache-Control', 'no-store'] as const;
const EMPTY = Buffer.alloc(0);

/** Sends the browser elsewhere. @param cookies the values of `Set-Cookie` fields. */
export function redirect(location: string, cookies: readonly string[]): Responded {
  const fields = [
    ['Location', location],
    NO_STORE,
    ['Referrer-Policy', 'no-referrer'],
    ...setCookies(cookies),
  ] as const;
  return { kind: 'answer', status: 303, fields, body: EMPTY };
}

/**
 * The page after signing out. At the provider, the visitor may still be signed in, and comes back without being asked.
 * @param providerUrl where the provider signs out.
 */
export function signedOut(providerUrl: string | undefined, cookies: readonly string[]): Responded {
  const there = providerUrl && `<p><a href="${escaped(providerUrl)}">Sign out at the identity provider, too</a></p>\n`;
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signed out</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem }
  h1 { font-size: 1.6rem; margin: 0 }
</style>
<h1>You are signed out</h1>
${there ?? ''}<p><a href="${SIGN_IN_PATH}">Sign in again</a></p>
</html>
`;
  const fields = [
    ['Content-Type', 'text/html; charset=utf-8'],
    NO_STORE,
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'no-referrer'],
    ['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'"],
    ...setCookies(cookies),
  ] as const;
  return { kind: 'answer', status: 200, fields, body: Buffer.from(page) };
}

const setCookies = (cookies: readonly string[]) => cookies.map((cookie) => ['Set-Cookie', cookie] as const);

/** A text in HTML, also within quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
