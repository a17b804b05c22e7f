// Jobs as rows of the database. Keys of certificates that are not issued yet are encrypted, and bound to their row.

import type { CertificateJob, JobPatch, OrderUnderWay, RenewalInfo, Revocation } from '../../acme/jobs/job.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Keys } from '../keys/keys.ts';

export const jobSelect = {
  id: true,
  accountId: true,
  names: true,
  privateKeyType: true,
  state: true,
  attempts: true,
  lookups: true,
  awayCount: true,
  startedAt: true,
  blockedUntil: true,
  order: true,
  renewsAt: true,
  renewalInfo: true,
  revocation: true,
  leaseNumber: true,
  domain: { select: { id: true, domain: true, cnameTarget: true, acmeChallengeCnameTarget: true } },
  certificate: { select: { certificatePem: true, notBefore: true, notAfter: true } },
} satisfies Prisma.ManagedCertificateSelect;

export type JobRow = Prisma.ManagedCertificateGetPayload<{ select: typeof jobSelect }>;

export function toJob(keys: Keys, row: JobRow): CertificateJob {
  const { certificate } = row;
  return {
    ...row,
    privateKeyType: row.privateKeyType === 'rsa' ? 'rsa' : 'ecdsa',
    startedAt: row.startedAt.getTime(),
    blockedUntil: row.blockedUntil?.getTime() ?? null,
    order: openOrder(keys, row.id, row.order as OrderUnderWay | null),
    renewsAt: row.renewsAt?.getTime() ?? null,
    renewalInfo: row.renewalInfo as RenewalInfo | null,
    revocation: row.revocation as Revocation | null,
    certificate: certificate && {
      pem: certificate.certificatePem,
      notBefore: certificate.notBefore.getTime(),
      notAfter: certificate.notAfter.getTime(),
    },
  };
}

/** What ends a step, as columns. */
export function toColumns(keys: Keys, id: string, patch: JobPatch): Prisma.ManagedCertificateUpdateManyMutationInput {
  const { nextAt, startedAt, blockedUntil, renewsAt, records, order, renewalInfo, revocation, ...same } = patch;
  return {
    ...same,
    nextAt: dateOf(nextAt),
    ...(startedAt !== undefined && { startedAt: new Date(startedAt) }),
    ...(blockedUntil !== undefined && { blockedUntil: dateOf(blockedUntil) }),
    ...(renewsAt !== undefined && { renewsAt: dateOf(renewsAt) }),
    ...(records && { records: records as unknown as Prisma.InputJsonArray }),
    ...(order !== undefined && { order: order === null ? Prisma.DbNull : sealOrder(keys, id, order) }),
    ...(renewalInfo !== undefined && {
      renewalInfo: renewalInfo === null ? Prisma.DbNull : { ...renewalInfo },
    }),
    ...(revocation !== undefined && { revocation: revocation === null ? Prisma.DbNull : { ...revocation } }),
    leaseUntil: null,
  };
}

const dateOf = (at: number | null) => (at === null ? null : new Date(at));

const placeOf = (id: string) => `managed_certificate:${id}:private_key`;

export function sealOrder(keys: Keys, id: string, order: OrderUnderWay): { [name: string]: Prisma.InputJsonValue } {
  const { privateKey, ...rest } = order;
  return { ...rest, ...(privateKey !== undefined && { privateKey: keys.seal(privateKey, placeOf(id)) }) };
}

export function openOrder(keys: Keys, id: string, order: OrderUnderWay | null): OrderUnderWay | null {
  if (order?.privateKey === undefined) return order;
  const { privateKey, request, ...rest } = order;
  try {
    return { ...rest, request, privateKey: keys.open(privateKey, placeOf(id)) };
  } catch {
    return rest; // The server key is another one: a new key is made.
  }
}
