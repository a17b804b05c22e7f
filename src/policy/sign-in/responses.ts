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
  const content = `<h1>You are signed out</h1>
${there ?? ''}<p><a href="${SIGN_IN_PATH}">Sign in again</a></p>`;
  return page('Signed out', content, cookies);
}

const QUESTIONS = {
  login: { title: 'Sign in again?', label: 'Sign in again' },
  logout: { title: 'Sign out?', label: 'Sign out' },
} as const;

/**
 * The page that asks whether the visitor means to sign in again, or out.
 * @param target of the request, which begins with the gateway's own path.
 * @param value what the form sends as `confirmation`.
 */
export function confirmation(path: 'login' | 'logout', target: string, value: string): Responded {
  const { title, label } = QUESTIONS[path];
  const content = `<h1>${title}</h1>
<form method="post" action="${escaped(target)}">
<input type="hidden" name="confirmation" value="${escaped(value)}">
<p><button>${label}</button></p>
</form>`;
  return page(title, content, []);
}

/** @param content in HTML. */
function page(title: string, content: string, cookies: readonly string[]): Responded {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem }
  h1 { font-size: 1.6rem; margin: 0 }
</style>
${content}
</html>
`;
  const fields = [
    ['Content-Type', 'text/html; charset=utf-8'],
    NO_STORE,
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'no-referrer'],
    [
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    ],
    ['X-Frame-Options', 'DENY'],
    ...setCookies(cookies),
  ] as const;
  return { kind: 'answer', status: 200, fields, body: Buffer.from(html) };
}

const setCookies = (cookies: readonly string[]) => cookies.map((cookie) => ['Set-Cookie', cookie] as const);

/** A text in HTML, also within quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
