// The certificate that answers the challenge tls-alpn-01 (RFC 8737).

import { createHash } from 'node:crypto';
import { exportKey, newKeyPair } from '../../runtime/issue-certificates.ts';
import { x509 } from '../../runtime/x509.ts';

/** The protocol that the authority asks for in its handshake. */
export const ACME_TLS_ALPN = 'acme-tls/1';
/** The extension acmeIdentifier (RFC 8737, section 6.1). */
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';
/** The authority does not look at the times; these let clocks be wrong. */
const VALID_MS = 7 * 86_400_000;

/**
 * Makes the certificate, which is shown to handshakes for this name with the protocol `acme-tls/1`, and to no others.
 * @param keyAuthorization that of the challenge. @returns the certificate and its key, in PEM.
 */
export async function tlsAlpnCertificate(
  name: string,
  keyAuthorization: string,
): Promise<{ cert: string; key: string }> {
  const keys = await newKeyPair();
  const { Extension, SubjectAlternativeNameExtension, X509CertificateGenerator } = x509();
  const digest = createHash('sha256').update(keyAuthorization).digest();
  const octetString = Buffer.concat([Buffer.from([0x04, digest.length]), digest]);
  const now = Date.now();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: ['ACME challenge'] }],
    notBefore: new Date(now - VALID_MS),
    notAfter: new Date(now + VALID_MS),
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
      new Extension(ACME_IDENTIFIER, true, octetString),
    ],
  });
  return { cert: `${certificate.toString('pem')}\n`, key: await exportKey(keys) };
}
