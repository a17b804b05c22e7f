// Handshakes in which a certificate authority looks for its challenge `tls-alpn-01` (RFC 8737). Nothing is said over them.

import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { ACME_TLS_ALPN, tlsAlpnCertificate } from '../../acme/client/tls-alpn-certificate.ts';
import { SERVER_TLS } from '../../protocol/tls-suites.ts';
import type { AcmeChallenges } from '../acme-challenges.ts';
import { Handshakes } from './handshakes.ts';
import type { ServerName } from './server-name.ts';

/** Whether a visitor who offers these protocols may be an authority. */
export const isAcmeHandshake = (alpn: readonly string[]): boolean => alpn.length === 1 && alpn[0] === ACME_TLS_ALPN;

export class AcmeHandshakes {
  readonly #challenges: AcmeChallenges | undefined;
  readonly #handshakes = new Handshakes({ alpn: [ACME_TLS_ALPN] });

  constructor(challenges: AcmeChallenges | undefined) {
    this.#challenges = challenges;
  }

  /** @returns whether the visitor is an authority that is expected, and is answered. */
  async answer(raw: Socket, bytes: Buffer, { name, sent }: ServerName): Promise<boolean> {
    const value = await this.#challenges?.find({ kind: 'tls-alpn-01', name, token: '' });
    if (value === undefined) return false;
    const context = createSecureContext({
      ...SERVER_TLS,
      ...(await tlsAlpnCertificate(name, value)),
      minVersion: 'TLSv1.2',
    });
    if (!raw.destroyed) this.#handshakes.begin(raw, bytes, { name: sent, context }, (socket) => socket.end());
    return true;
  }
}
