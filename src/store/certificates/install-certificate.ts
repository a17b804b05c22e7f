// Puts a certificate that was issued in the place of the one before: visitors are shown it once the transaction is committed.

import type { CertificateJob } from '../../acme/jobs/job.ts';
import type { Announce } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';
import { newId } from '../ids.ts';
import type { Keys } from '../keys/keys.ts';
import { sealPrivateKey } from '../keys/private-keys.ts';

/** What the table of certificates has of one, beside whose it is and its key. */
export interface CertificateFacts {
  certificatePem: string;
  subject: object;
  dnsNames: string[];
  ips: string[];
  issuerCommonName: string;
  serialNumber: string;
  privateKeyType: string;
  keyUsages: string[];
  extendedKeyUsages: string[];
  notBefore: Date;
  notAfter: Date;
}

/** @param privateKey in PEM. @param at when it was issued, in milliseconds since 1970. */
export async function installCertificate(
  { db, announce, keys }: { db: Db; announce: Announce; keys: Keys },
  { id: managedCertificateId, accountId, domain }: CertificateJob,
  facts: CertificateFacts,
  privateKey: string,
  at: number,
): Promise<void> {
  const known = await db.tlsCertificate.findUnique({ where: { managedCertificateId }, select: { id: true } });
  const id = known?.id ?? newId('cert');
  const sealed = sealPrivateKey(keys, { id, accountId }, privateKey);
  const data = { ...facts, subject: { ...facts.subject }, privateKey: sealed, issuedAt: new Date(at) };
  if (known) await db.tlsCertificate.update({ where: { id }, data });
  else await db.tlsCertificate.create({ data: { ...data, id, accountId, managedCertificateId } });
  announce({ kind: 'tlsCertificate', action: known ? 'UPDATED' : 'CREATED', id, accountId });
  if (!domain) return;
  // Unless the policy was taken away at the same moment, which deletes the job first.
  await db.reservedDomain.update({ where: { id: domain.id }, data: { certificateId: id } });
  announce({ kind: 'reservedDomain', action: 'UPDATED', id: domain.id, accountId });
}
