// Certificate requests (PKCS #10, RFC 2986), each with a key of its own.

import { createPrivateKey, webcrypto } from 'node:crypto';
import { x509 } from '../../runtime/x509.ts';

export interface NewCertificateRequest {
  /** In DER, as orders are finalized with. */
  csr: Buffer;
  /** In PEM (PKCS #8). */
  privateKeyPem: string;
}

const ALGORITHMS = {
  ecdsa: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
};

/**
 * Makes a key and a request for a certificate with these names. The request has no common name: profiles of authorities forbid it,
 * and it is limited to 64 characters.
 * @param keyType a key on P-256, or one of RSA with 2048 bits.
 */
export async function newCertificateRequest(
  names: readonly string[],
  keyType: keyof typeof ALGORITHMS,
): Promise<NewCertificateRequest> {
  const algorithm = ALGORITHMS[keyType];
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = x509();
  const request = await Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: algorithm,
    extensions: [new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value })))],
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const privateKey = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' });
  return {
    csr: Buffer.from(request.rawData),
    privateKeyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}
