// The token of a one-time link. It comes behind the # of the address, which no server sees; it is taken out of the
// address at once, so that neither the history nor a bookmark keeps it, and is held in memory only.

import { signal } from '@preact/signals';

/** What came with a one-time link and isn't used up; null when nothing did. */
export const signInToken = signal<string | null>(null);

/** Takes the token out of the address, now and whenever a link is opened in this page again. */
export function captureSignInToken(): void {
  readToken();
  window.addEventListener('hashchange', readToken);
}

function readToken(): void {
  const { pathname, search, hash } = window.location;
  if (!pathname.endsWith('/sign-in') || hash.length < 2) return;
  signInToken.value = hash.slice(1);
  history.replaceState(null, '', pathname + search);
}
