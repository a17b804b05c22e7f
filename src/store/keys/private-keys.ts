// The private keys of uploaded certificates in the database. They are encrypted, and bound to their row.

import type { Keys } from './keys.ts';

/** The row of a certificate. */
export interface CertificateRow {
  id: string;
  accountId: string;
}

/** A private key (PEM), encrypted as it is stored. */
export function sealPrivateKey(keys: Keys, row: CertificateRow, pem: string): string {
  return keys.seal(pem, placeOf(row));
}

/** The private key (PEM) of a row, decrypted. It is for TLS only, never for a response. @throws when it belongs to another row. */
export function openPrivateKey(keys: Keys, row: CertificateRow & { privateKey: string }): string {
  return keys.open(row.privateKey, placeOf(row));
}

function placeOf({ id, accountId }: CertificateRow): string {
  return `tls_certificate:${accountId}:${id}:private_key`;
}
