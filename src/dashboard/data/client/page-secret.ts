// The secret that proves, besides the session cookie, that a request comes from the dashboard. Browsers send a cookie
// to every port of its host, so a device behind another port sees it too. The storage of a page belongs to its origin
// with the port.

const KEY = 'page-secret';

/** A fallback for browsers that deny storage: the session then ends with the page. */
let secretInMemory: string | null = null;

/** The secret of the last sign-in in this page or another tab; null if there is none. */
export function pageSecret(): string | null {
  try {
    return localStorage.getItem(KEY) ?? secretInMemory;
  } catch {
    return secretInMemory;
  }
}

/** Stores the secret of a sign-in; null removes it. */
export function storePageSecret(secret: string | null): void {
  secretInMemory = null;
  try {
    if (secret === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, secret);
  } catch {
    secretInMemory = secret;
  }
}
