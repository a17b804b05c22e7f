// TLS on other terms than the usual ones: versions, and certificates of visitors.

import { constants, type X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { TlsParameters } from '../../http/module.ts';
import { isSameTlsParameters } from '../../http/tls-terms.ts';
import { SERVER_TLS } from '../../protocol/tls-suites.ts';
import type { ServedCertificate } from './certificates.ts';
import { Handshakes } from './handshakes.ts';

/** Node's types do not know it yet: an authority that was issued by another one is trusted by itself. */
const PARTIAL_CHAIN = { allowPartialTrustChain: true };

/** The least of RSA keys in certificates of visitors: that of the Baseline Requirements (section 6.1.5), in bits. */
const RSA_BITS_MIN = 2048;
/** Longer chains OpenSSL does not verify by itself. */
const CHAIN_MAX = 100;

/**
 * The terms for a visitor of one endpoint whom a policy may have sent on to another.
 * @returns `conflict` when each has mutual TLS of its own: one handshake cannot have both.
 */
export function mergeTlsParameters(
  visited: TlsParameters | undefined,
  reached: TlsParameters | undefined,
): TlsParameters | 'conflict' | undefined {
  if (!visited?.clientAuthorities) return reached ?? visited;
  return !reached?.clientAuthorities || isSameTlsParameters(visited, reached) ? visited : 'conflict';
}

/**
 * Handshakes on any terms. Each certificate has its own for each terms: Node chooses a context by the visitor's name, for
 * which other terms may hold a moment later.
 */
export class ParameterizedHandshakes {
  readonly #kept = new WeakMap<TlsParameters, WeakMap<ServedCertificate, HandshakeEntry>>();

  /**
   * @param named the name in `bytes` as it was sent, and the certificate for it.
   * @param alpn none for visitors who are not given HTTP; for the same terms always the same.
   */
  begin(
    raw: Socket,
    bytes: Buffer,
    {
      name,
      shown,
      parameters,
      alpn,
    }: { name: string; shown: ServedCertificate; parameters: TlsParameters; alpn: string[] | undefined },
    onSecure: (socket: TLSSocket) => void,
  ): void {
    const { handshakes, context } = this.#keptFor(parameters, shown, alpn);
    handshakes.begin(raw, bytes, { name, context }, (socket) => {
      const certificate = socket.getPeerX509Certificate();
      // Node asks for any certificate, or for one that is vouched for.
      const isMissing = parameters.clientVerification === 'require-any' && !certificate;
      if (isMissing || (certificate && hasShortKey(certificate))) socket.destroy();
      else onSecure(socket);
    });
  }

  #keptFor(parameters: TlsParameters, shown: ServedCertificate, alpn: string[] | undefined): HandshakeEntry {
    const ofParameters = this.#kept.get(parameters) ?? new WeakMap<ServedCertificate, HandshakeEntry>();
    this.#kept.set(parameters, ofParameters);
    const kept = ofParameters.get(shown) ?? {
      handshakes: handshakesOn(parameters, alpn),
      context: contextOn(parameters, shown),
    };
    ofParameters.set(shown, kept);
    return kept;
  }
}

/** Whether a certificate of a visitor, or one that leads from it to its authority, has a key that can be broken. */
function hasShortKey(certificate: X509Certificate): boolean {
  let one: X509Certificate | undefined = certificate;
  for (let length = 0; one && length < CHAIN_MAX; length++) {
    const { asymmetricKeyType, asymmetricKeyDetails } = one.publicKey;
    if (asymmetricKeyType?.startsWith('rsa') && (asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS_MIN) return true;
    one = one.issuerCertificate;
  }
  return false;
}

interface HandshakeEntry {
  handshakes: Handshakes;
  context: SecureContext;
}

function handshakesOn(parameters: TlsParameters, alpn: string[] | undefined): Handshakes {
  const { minVersion, maxVersion, clientAuthorities, clientVerification = 'require-and-verify' } = parameters;
  const isAsked = clientAuthorities !== undefined || parameters.clientVerification !== undefined;
  const clientCertificates = isAsked ? { isRequired: clientVerification === 'require-and-verify' } : undefined;
  return new Handshakes({ alpn, minVersion, maxVersion, clientCertificates });
}

function contextOn(
  { minVersion, maxVersion, clientAuthorities, identity }: TlsParameters,
  shown: ServedCertificate,
): SecureContext {
  return createSecureContext({
    ...(identity ?? { cert: shown.cert, key: shown.key }),
    // Without authorities of its own a context trusts all that Node knows; none may be trusted here.
    ca: [...(clientAuthorities ?? [])],
    minVersion,
    maxVersion,
    ...SERVER_TLS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...PARTIAL_CHAIN,
  });
}
