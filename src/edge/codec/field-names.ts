// What the name of a field in a request means to those behind us.

import { FOREIGN_NAMESPACE } from '../../tunnel/control/compatibility.ts';

/**
 * What the names of fields begin with that say who a visitor has proven to be, in lower case: by signing in, or by a certificate.
 * Services that were written for the original service trust those with its name.
 */
export const IDENTITY_PREFIXES: readonly string[] = ['gateway', FOREIGN_NAMESPACE].flatMap((namespace) =>
  ['auth', 'mtls'].map((kind) => `${namespace}-${kind}-`),
);

/** What frames a message, what is for one hop, and what only the gateway may say. */
const TRUSTED = new RegExp(
  `^(?:(?:content-length|transfer-encoding|keep-alive|http2-settings|x-real-ip)$|proxy-|x-forwarded-|gateway-|${IDENTITY_PREFIXES.join('|')})`,
);

/** Whether a server that takes `_` for `-`, as CGI does, would read a field's name as one that it trusts. */
export function readsAsTrusted(name: string): boolean {
  return TRUSTED.test(name.toLowerCase().replaceAll('_', '-'));
}

/** Whether it says who a visitor has proven to be, also in the eyes of a server that takes `_` for `-`. */
export function isIdentityField(name: string): boolean {
  const read = name.toLowerCase().replaceAll('_', '-');
  return IDENTITY_PREFIXES.some((prefix) => read.startsWith(prefix));
}
