// The token of a one-time sign-in link. It is in the fragment of the URL, which servers never see. It is removed from
// the address bar at once, so that no history and no bookmark contains it, and is kept in memory only.

import { signal } from '@preact/signals';

/** The token of a link that is not yet used; null if there is none. */
export const signInToken = signal<string | null>(null);

/** Moves the token from the URL into memory, now and whenever a link is opened in this page. */
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
