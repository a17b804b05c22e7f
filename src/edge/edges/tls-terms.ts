// How an edge wants TLS to be spoken with its visitors.

import type { TlsParameters } from '../../http/module.ts';
import { endsTls, goTogether } from '../modules/tls-termination.ts';
import type { EdgeConfig } from './edge-config.ts';

/**
 * The terms that the modules of an edge make; undefined when they say nothing, or TLS is not ended here.
 * @throws when mutual TLS cannot see the handshake, or names no authority: everybody's certificate would do.
 */
export function termsOf({ kind, mutualTls, tlsTermination }: EdgeConfig): TlsParameters | undefined {
  const isMutual = mutualTls?.enabled === true;
  if (!goTogether({ mutualTls, tlsTermination }))
    throw new Error('its mutual TLS cannot act, as TLS is ended upstream');
  if (kind === 'tls' && !endsTls({ mutualTls, tlsTermination })) return undefined;
  if (!isMutual && !tlsTermination?.enabled) return undefined;
  const terms: TlsParameters = {
    minVersion: tlsTermination?.enabled ? `TLSv${tlsTermination.minVersion}` : 'TLSv1.2',
    maxVersion: 'TLSv1.3',
  };
  if (!isMutual) return terms;
  if (mutualTls.authorities.length === 0) throw new Error('its mutual TLS has no certificate authority');
  terms.clientAuthorities = mutualTls.authorities.map(({ pem }) => pem);
  terms.clientVerification = 'require-and-verify';
  return terms;
}
