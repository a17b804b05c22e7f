// Handshakes in which a certificate authority looks for its challenge `tls-alpn-01` (RFC 8737). Nothing is said over them.

import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { ACME_TLS_ALPN, tlsAlpnCertificate } from '../../acme/client/tls-alpn-certificate.ts';
import { SERVER_TLS } from '../../protocol/tls-suites.ts';
import type { AcmeChallenges } from '../acme-challenges.ts';
import type { HandshakeTurns } from './handshake-turns.ts';
import { Handshakes } from './handshakes.ts';
import type { ServerName } from './server-name.ts';

/** Whether a visitor who offers these protocols may be an authority, which offers no other. Nobody else offers it at all. */
export const isAcmeHandshake = (alpn: readonly string[]): boolean => alpn.includes(ACME_TLS_ALPN);

export class AcmeHandshakes {
  readonly #challenges: AcmeChallenges | undefined;
  readonly #handshakes = new Handshakes({ alpn: [ACME_TLS_ALPN] });

  constructor(challenges: AcmeChallenges | undefined) {
    this.#challenges = challenges;
  }

  /**
   * Answers an authority that is expected, when it is its turn.
   * @returns the account whose service is to be asked otherwise, undefined: nobody's; and whether it is answered.
   */
  async answer(
    raw: Socket,
    bytes: Buffer,
    named: ServerName,
    turns: Pick<HandshakeTurns, 'take'>,
  ): Promise<{ isAnswered: boolean; holder?: string | undefined }> {
    const found = await this.#challenges
      ?.answer({ kind: 'tls-alpn-01', name: named.name, token: '' })
      .catch(() => ({ holder: undefined }));
    if (!found || !('value' in found)) return { isAnswered: false, holder: found?.holder };
    const { value } = found;
    if (!raw.destroyed) turns.take(raw, () => void this.#begin(raw, bytes, named, value).catch(() => raw.destroy()));
    return { isAnswered: true };
  }

  async #begin(raw: Socket, bytes: Buffer, { name, sent }: ServerName, value: string): Promise<void> {
    const context = createSecureContext({
      ...SERVER_TLS,
      ...(await tlsAlpnCertificate(name, value)),
      minVersion: 'TLSv1.2',
    });
    if (!raw.destroyed) this.#handshakes.begin(raw, bytes, { name: sent, context }, (socket) => socket.end());
  }
}
