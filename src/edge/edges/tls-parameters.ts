// How an edge wants TLS to be spoken with its visitors.

import type { TlsParameters } from '../../http/module.ts';
import type { TlsEffect } from '../modules/descriptor.ts';
import { endsTls } from '../modules/tls.ts';

/**
 * The terms that the modules of an edge make; undefined when they say nothing, or TLS is not ended here.
 * @throws when mutual TLS cannot see the handshake.
 */
export function tlsParametersOf(kind: 'https' | 'tls', tls: TlsEffect | undefined): TlsParameters | undefined {
  if (!tls) return undefined;
  const { minVersion = 'TLSv1.2', clientAuthorities } = tls;
  if (clientAuthorities && !endsTls(tls)) throw new Error('its mutual TLS cannot act, as TLS is ended upstream');
  if (kind === 'tls' && !endsTls(tls)) return undefined;
  const parameters: TlsParameters = { minVersion, maxVersion: 'TLSv1.3' };
  return clientAuthorities
    ? { ...parameters, clientAuthorities, clientVerification: 'require-and-verify' }
    : parameters;
}
