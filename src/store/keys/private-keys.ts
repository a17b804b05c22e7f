// The private keys of uploaded certificates, as the database holds them: encrypted, and bound to their row.

import type { Keys } from './keys.ts';

/** The row that a key belongs to. */
export interface CertificateRow {
  id: string;
  accountId: string;
}

/** A private key (PEM) as the database takes it. */
export function sealPrivateKey(keys: Keys, row: CertificateRow, pem: string): string {
  return keys.seal(pem, placeOf(row));
}

/** The private key (PEM) of a row: for whoever speaks TLS, never for an answer. Throws when it belongs to another row. */
export function openPrivateKey(keys: Keys, row: CertificateRow & { privateKey: string }): string {
  return keys.open(row.privateKey, placeOf(row));
}

function placeOf({ id, accountId }: CertificateRow): string {
  return `tls_certificate:${accountId}:${id}:private_key`;
}
