// What a page proves besides the cookie that it is the dashboard. Browsers send a cookie to every port of its host, so
// devices behind other ports get it, too; the storage of a page belongs to its origin, port included.

const KEY = 'page-secret';

/** Where a browser grants no storage, this page alone stays signed in, until it is left. */
let secretInMemory: string | null = null;

/** What came with a sign-in, in this page or in another tab; null when nothing did. */
export function pageSecret(): string | null {
  try {
    return localStorage.getItem(KEY) ?? secretInMemory;
  } catch {
    return secretInMemory;
  }
}

/** Keeps what came with a sign-in; null forgets it. */
export function storePageSecret(secret: string | null): void {
  secretInMemory = null;
  try {
    if (secret === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, secret);
  } catch {
    secretInMemory = secret;
  }
}
