// `conn.tls`: the visitor's TLS, as long as the gateway ends it. Without it, texts and lists are empty.

import { listType } from '@bufbuild/cel';
import { ALTERNATIVE_NAMES, type Certificate, certificateOf, NAME_MEMBERS, type Name } from './certificate.ts';
import { BY_NAME, flag, moment, text, texts, type Variables, type Visit, value } from './variable.ts';

export const tlsVariables: Variables = {
  'conn.tls.version': text(tlsVersion),
  'conn.tls.cipher_suite': text(cipherSuite),
  'conn.tls.sni': text(serverName),
  'conn.tls.negotiated_alpn': text(({ connection }) => connection.tls?.alpnProtocol || ''),
  'conn.tls.session_resumed': flag(({ connection }) => connection.tls?.isSessionReused?.() ?? false),
  ...certificateVariables('client'),
  ...certificateVariables('server'),

  // As policies of 2024 call them.
  'conn.TLS.Version': text(tlsVersion),
  'conn.TLS.CipherSuite': text(cipherSuite),
  'conn.TLS.SNI': text(serverName),
  'conn.TLS.CertCN': text(clientName),
};

/** `1.3` */
export function tlsVersion({ connection }: Visit): string {
  return connection.tls?.getProtocol?.()?.replace('TLSv', '') ?? '';
}

/** By its standard name: `TLS_AES_128_GCM_SHA256`. */
export function cipherSuite({ connection }: Visit): string {
  return connection.tls?.getCipher?.()?.standardName ?? '';
}

export function serverName({ connection }: Visit): string {
  return connection.serverName ?? '';
}

/** The common name in the visitor's certificate. */
export function clientName({ connection }: Visit): string {
  return certificateOf(connection.tls, 'client')?.subject.commonName ?? '';
}

function certificateVariables(side: 'client' | 'server'): Variables {
  const prefix = `conn.tls.${side}`;
  const of = <T>(read: (certificate: Certificate) => T, otherwise: T) => {
    return ({ connection }: Visit): T => {
      const certificate = certificateOf(connection.tls, side);
      return certificate ? read(certificate) : otherwise;
    };
  };
  const variables: Record<string, Variables[string]> = {
    [`${prefix}.san`]: text(of((certificate) => certificate.alternativeNames, '')),
    [`${prefix}.serial_number`]: text(of((certificate) => certificate.serialNumber, '')),
    [`${prefix}.signature_algorithm`]: text(of((certificate) => certificate.signatureAlgorithm, '')),
    [`${prefix}.validity.not_before`]: moment(of((certificate) => certificate.notBefore, 0)),
    [`${prefix}.validity.not_after`]: moment(of((certificate) => certificate.notAfter, 0)),
    [`${prefix}.extensions`]: value(
      listType(BY_NAME),
      of((certificate) => certificate.extensions, []),
    ),
    [`${prefix}.pem`]: text(of((certificate) => certificate.pem, '')),
  };
  for (const [member, kind] of Object.entries(ALTERNATIVE_NAMES))
    variables[`${prefix}.san.${member}`] = texts(of((certificate) => certificate.alternativeNamesOf(kind), []));
  for (const whose of ['subject', 'issuer'] as const) {
    const name = `${prefix}.${whose}`;
    const ofName = <T>(read: (name: Name) => T, otherwise: T) =>
      of((certificate) => read(certificate[whose]), otherwise);
    variables[name] = text(ofName((one) => one.text, ''));
    variables[`${name}.common_name`] = text(ofName((one) => one.commonName, ''));
    for (const [member, attribute] of Object.entries(NAME_MEMBERS))
      variables[`${name}.${member}`] = texts(ofName((one) => one.all(attribute), []));
  }
  return variables;
}
