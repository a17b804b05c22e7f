// What mutual TLS tells upstreams of a visitor's certificate, in header fields.

import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { HttpModule } from '../../http/module.ts';
import { escapedFieldValue, type GatewayHeader, setGatewayHeaders } from './gateway-headers.ts';

const PREFIX = 'gateway-mtls-';
/** One entry of a list of alternative names as Node writes it: texts with a comma in them are in quotes (JSON). */
const ENTRY = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g;
const NONE: readonly GatewayHeader[] = [];

/**
 * Sets `Gateway-Mtls-*` from the certificate that the handshake has verified; several values are joined by commas. What
 * is no visible ASCII, commas and percent signs are escaped as in URLs. What the visitor sends under these names never
 * goes on.
 */
export function mtlsHeaders(): Pick<HttpModule, 'onRequest'> {
  // A connection has one certificate and many requests; to read it takes longer than the rest of the way.
  const known = new WeakMap<TLSSocket, readonly GatewayHeader[]>();
  const linesFor = (tls: TLSSocket): readonly GatewayHeader[] => {
    const lines = known.get(tls) ?? linesOf(tls);
    known.set(tls, lines);
    return lines;
  };
  return {
    onRequest({ request: { fields }, tls }) {
      setGatewayHeaders(fields, PREFIX, tls ? linesFor(tls) : NONE);
      return undefined;
    },
  };
}

function linesOf(tls: TLSSocket): readonly GatewayHeader[] {
  // Policies may ask for a certificate without verifying it: it proves nothing then.
  const certificate = tls.authorized ? tls.getPeerX509Certificate() : undefined;
  if (!certificate) return NONE;
  const names = alternativeNames(certificate);
  const { CN } = certificate.toLegacyObject().subject ?? {};
  const lines: [name: string, values: readonly string[]][] = [
    ['Gateway-Mtls-Subject-Cn', [CN ?? []].flat()],
    ['Gateway-Mtls-Subject-Alt-Name-Dns', names('DNS')],
    ['Gateway-Mtls-Subject-Alt-Name-Email-Addresses', names('email')],
    ['Gateway-Mtls-Serial-Number', [certificate.serialNumber.toLowerCase()]],
  ];
  return lines
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => [name, values.map(escapedFieldValue).join(',')]);
}

function alternativeNames({ subjectAltName = '' }: X509Certificate): (kind: string) => string[] {
  const entries = [...subjectAltName.matchAll(ENTRY)].map(([, kind, text = '']) => ({
    kind,
    name: text.startsWith('"') ? (JSON.parse(text) as string) : text,
  }));
  return (wanted) => entries.flatMap(({ kind, name }) => (kind === wanted ? name : []));
}
