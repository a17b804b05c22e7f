// Where identity providers send visitors back to. Each account has an address of its own for each issuer: at one that all share, an
// account whose issuer names another account's provider would be given the answers that are meant for that one (mix-up, RFC 9700,
// section 4.4), and would be that account's application, as only the address tells them apart.

import { createHash } from 'node:crypto';

/** The path of callbacks at the API's listener, and the address that all shared before, which is answered for one release. */
export const CALLBACK_PATH = '/oauth2/callback';

const ID_BYTES = 16;

/**
 * The path of an account's callback for an issuer. It is no secret, and the same at every node and with every server key, as it is
 * registered at the provider.
 * @param issuer the URL of an OpenID Connect issuer, or the name of an OAuth provider.
 */
export function callbackPath(accountId: string, issuer: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([accountId, issuer]))
    .digest();
  return `${CALLBACK_PATH}/${digest.subarray(0, ID_BYTES).toString('base64url')}`;
}

/** Whether a path of the API's listener is that of a callback. */
export function isCallbackPath(path: string): boolean {
  return path === CALLBACK_PATH || path.startsWith(`${CALLBACK_PATH}/`);
}
