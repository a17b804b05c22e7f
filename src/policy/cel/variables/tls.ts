// The variables `conn.tls`: the visitor's TLS when the gateway terminates it; otherwise texts and lists are empty.

import { listType } from '@bufbuild/cel';
import { ALTERNATIVE_NAMES, type CertificateView, certificateOf, NAME_MEMBERS, type Name } from './certificate.ts';
import {
  BY_NAME,
  boolVariable,
  type CelVariables,
  type EvaluationContext,
  textListVariable,
  textVariable,
  timestampVariable,
  typedVariable,
} from './variable.ts';

export const tlsVariables: CelVariables = {
  'conn.tls.version': textVariable(tlsVersion),
  'conn.tls.cipher_suite': textVariable(cipherSuite),
  'conn.tls.sni': textVariable(serverName),
  'conn.tls.negotiated_alpn': textVariable(({ connection }) => connection.tls?.alpnProtocol || ''),
  'conn.tls.ja4_fingerprint': textVariable(({ connection }) => connection.clientFingerprint ?? ''),
  'conn.tls.session_resumed': boolVariable(({ connection }) => connection.tls?.isSessionReused?.() ?? false),
  ...certificateVariables('client'),
  ...certificateVariables('server'),

  // The names of policies of 2024 follow.
  'conn.TLS.Version': textVariable(tlsVersion),
  'conn.TLS.CipherSuite': textVariable(cipherSuite),
  'conn.TLS.SNI': textVariable(serverName),
  'conn.TLS.CertCN': textVariable(clientName),
};

/** The TLS version, as in `1.3`. */
export function tlsVersion({ connection }: EvaluationContext): string {
  return connection.tls?.getProtocol?.()?.replace('TLSv', '') ?? '';
}

/** The cipher suite by its IANA name, as in `TLS_AES_128_GCM_SHA256`. */
export function cipherSuite({ connection }: EvaluationContext): string {
  return connection.tls?.getCipher?.()?.standardName ?? '';
}

export function serverName({ connection }: EvaluationContext): string {
  return connection.serverName ?? '';
}

/** The common name of the visitor's certificate. */
export function clientName({ connection }: EvaluationContext): string {
  return certificateOf(connection.tls, 'client')?.subject.commonName ?? '';
}

function certificateVariables(side: 'client' | 'server'): CelVariables {
  const prefix = `conn.tls.${side}`;
  const of = <T>(read: (certificate: CertificateView) => T, otherwise: T) => {
    return ({ connection }: EvaluationContext): T => {
      const certificate = certificateOf(connection.tls, side);
      return certificate ? read(certificate) : otherwise;
    };
  };
  const variables: Record<string, CelVariables[string]> = {
    [`${prefix}.san`]: textVariable(of((certificate) => certificate.alternativeNames, '')),
    [`${prefix}.serial_number`]: textVariable(of((certificate) => certificate.serialNumber, '')),
    [`${prefix}.signature_algorithm`]: textVariable(of((certificate) => certificate.signatureAlgorithm, '')),
    [`${prefix}.validity.not_before`]: timestampVariable(of((certificate) => certificate.notBefore, 0)),
    [`${prefix}.validity.not_after`]: timestampVariable(of((certificate) => certificate.notAfter, 0)),
    [`${prefix}.extensions`]: typedVariable(
      listType(BY_NAME),
      of((certificate) => certificate.extensions, []),
    ),
    [`${prefix}.pem`]: textVariable(of((certificate) => certificate.pem, '')),
  };
  for (const [member, kind] of Object.entries(ALTERNATIVE_NAMES))
    variables[`${prefix}.san.${member}`] = textListVariable(
      of((certificate) => certificate.alternativeNamesOf(kind), []),
    );
  for (const whose of ['subject', 'issuer'] as const) {
    const name = `${prefix}.${whose}`;
    const ofName = <T>(read: (name: Name) => T, otherwise: T) =>
      of((certificate) => read(certificate[whose]), otherwise);
    variables[name] = textVariable(ofName((one) => one.text, ''));
    variables[`${name}.common_name`] = textVariable(ofName((one) => one.commonName, ''));
    for (const [member, attribute] of Object.entries(NAME_MEMBERS))
      variables[`${name}.${member}`] = textListVariable(ofName((one) => one.all(attribute), []));
  }
  return variables;
}
