// What terms of TLS ask of visitors.

import type { TlsParameters } from './module.ts';

const keys = new WeakMap<TlsParameters, string>();

/** Whether a connection that was made on the one terms is good for the other. */
export function isSameTlsParameters(a: TlsParameters | undefined, b: TlsParameters | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && keyOf(a) === keyOf(b));
}

/** Whether nobody comes without a certificate. */
export function termsRequireCertificate(parameters: TlsParameters | undefined): boolean {
  return parameters?.clientAuthorities !== undefined && parameters.clientVerification !== 'request';
}

function keyOf(parameters: TlsParameters): string {
  const key = keys.get(parameters) ?? JSON.stringify(parameters);
  keys.set(parameters, key);
  return key;
}
