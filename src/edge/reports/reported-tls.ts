// The TLS of a connection as reports have it.

import type { TLSSocket } from 'node:tls';
import { certificateOf } from '../../policy/cel/variables/certificate.ts';
import type { ReportedTls } from './traffic-reports.ts';

const known = new WeakMap<TLSSocket, ReportedTls>();

/**
 * Has to be asked while the connection is open, for the first time: later it is not known any more. The certificate is
 * what the visitor showed; whether one is needed, and whose, is for the endpoint to say.
 */
export function reportedTls(tls: TLSSocket): ReportedTls {
  const reported = known.get(tls) ?? read(tls);
  known.set(tls, reported);
  return reported;
}

function read(tls: TLSSocket): ReportedTls {
  const certificate = certificateOf(tls, 'client');
  return {
    version: tls.getProtocol() ?? '',
    cipherSuite: tls.getCipher()?.standardName ?? '',
    clientCertificate: certificate && {
      serialNumber: certificate.serialNumber,
      commonName: certificate.subject.commonName,
    },
  };
}
