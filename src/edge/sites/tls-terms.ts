// How an edge wants TLS to be spoken with its visitors.

import type { TlsTerms } from '../module.ts';
import type { EdgeConfig } from './source.ts';

/**
 * The terms that the modules of an edge make; undefined when they say nothing.
 * @throws when mutual TLS names no authority: everybody's certificate would do.
 */
export function termsOf({ mutualTls, tlsTermination }: EdgeConfig): TlsTerms | undefined {
  const isMutual = mutualTls?.enabled === true;
  if (!isMutual && !tlsTermination?.enabled) return undefined;
  const terms: TlsTerms = {
    minVersion: tlsTermination?.enabled ? `TLSv${tlsTermination.minVersion}` : 'TLSv1.2',
    maxVersion: 'TLSv1.3',
  };
  if (!isMutual) return terms;
  if (mutualTls.authorities.length === 0) throw new Error('its mutual TLS has no certificate authority');
  terms.clientAuthorities = mutualTls.authorities.map(({ pem }) => pem);
  terms.clientVerification = 'require-and-verify';
  return terms;
}
