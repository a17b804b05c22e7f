// What browsers are answered while visitors sign in and out. Nothing of it may be kept by a cache.

import { escapeHtml, htmlPage } from '../../http/html-page.ts';
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
  const there =
    providerUrl && `<p><a href="${escapeHtml(providerUrl)}">Sign out at the identity provider, too</a></p>\n`;
  const content = `${there ?? ''}<p><a href="${SIGN_IN_PATH}">Sign in again</a></p>`;
  return page('You are signed out', content, cookies);
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
  const content = `<form method="post" action="${escapeHtml(target)}">
<input type="hidden" name="confirmation" value="${escapeHtml(value)}">
<p><button>${label}</button></p>
</form>`;
  return page(title, content, []);
}

/** @param content in HTML. */
function page(title: string, content: string, cookies: readonly string[]): Responded {
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
  return { kind: 'answer', status: 200, fields, body: Buffer.from(htmlPage(title, content)) };
}

const setCookies = (cookies: readonly string[]) => cookies.map((cookie) => ['Set-Cookie', cookie] as const);
