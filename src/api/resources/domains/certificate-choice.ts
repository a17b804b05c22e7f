// Which certificate the visitors of a reserved domain see: one that its account uploaded, or one that is obtained by a
// policy. A domain is given one of both, or neither; names below the gateway's own base domain have neither.

import type { Db } from '../../../store/database/client.ts';
import { Prisma } from '../../../store/generated/prisma/client.ts';
import { rfc3339 } from '../../builder/timestamps.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { nounOf } from '../../naming.ts';
import { type CertificateManagementPolicyInput, type Policy, readPolicy } from './certificate-policy.ts';

const MEMBER = 'certificateId';
/** How many names of a certificate an error tells. */
const TOLD_MAX = 10;

interface Given {
  certificateId?: string | null;
  certificateManagementPolicy?: typeof CertificateManagementPolicyInput.$inferInput | null;
}

interface Named {
  domain: string;
  /** Whether it is below the gateway's own base domain. */
  isOurs: boolean;
}

/** @returns what to write to the row of a new domain. @throws {ApiError} when the domain cannot have what is given. */
export async function chooseCertificate(given: Given, name: Named, context: Context, db: Db) {
  const { certificateId: id, certificateManagementPolicy: policy } = given;
  checkGiven(given, name);
  if (id) return { certificateId: await checkCertificate(id, name, context, db) };
  return name.isOurs ? {} : { certificatePolicy: readPolicy(policy ?? {}) };
}

/**
 * Holds the row until the transaction ends.
 * @returns what to write to the row of a domain; what is not given stays. @throws {ApiError} as above, or when there is none.
 */
export async function changeCertificate(given: Given, id: string, context: Context, db: Db) {
  const { certificateId, certificateManagementPolicy: policy } = given;
  if (certificateId == null && policy == null) return {};
  const { name, current } = await lockDomain(id, context, db);
  checkGiven(given, name);
  if (policy) {
    const certificatePolicy = readPolicy(policy, current.policy ?? undefined);
    // A certificate that was obtained is shown until the next takes its place.
    return current.isManaged ? { certificatePolicy } : { certificateId: null, certificatePolicy };
  }
  if (!certificateId) return withoutCertificate(current);
  return {
    certificateId: await checkCertificate(certificateId, name, context, db),
    certificatePolicy: Prisma.DbNull,
  };
}

/** @returns what to write to the row of a domain so that it has its automatic policy again. @throws {ApiError} when there is none. */
export async function dropCertificate(id: string, context: Context, db: Db) {
  const { current } = await lockDomain(id, context, db);
  if (current.isManaged) throw new ApiError('certificateManaged');
  return withoutCertificate(current);
}

interface Current {
  certificateId: string | null;
  policy: Policy | null;
  /** Whether the gateway obtained the certificate, and renews it. */
  isManaged: boolean;
}

function withoutCertificate({ certificateId, isManaged }: Current) {
  return certificateId === null || isManaged ? {} : { certificateId: null, certificatePolicy: readPolicy({}) };
}

async function lockDomain(id: string, { accountId }: Context, db: Db): Promise<{ name: Named; current: Current }> {
  await db.$queryRaw`SELECT id FROM reserved_domain WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`;
  const certificate = { select: { managedCertificateId: true } };
  const select = { domain: true, cnameTarget: true, certificateId: true, certificatePolicy: true, certificate };
  const row = await db.reservedDomain.findUnique({ where: { id, accountId }, select });
  const { domain, cnameTarget, certificateId, certificatePolicy, ...rest } = requireFound(
    row,
    nounOf('reservedDomain'),
  );
  return {
    name: { domain, isOurs: cnameTarget === null },
    current: {
      certificateId,
      policy: certificatePolicy as Policy | null,
      isManaged: (rest.certificate?.managedCertificateId ?? null) !== null,
    },
  };
}

function checkGiven({ certificateId, certificateManagementPolicy: policy }: Given, { isOurs }: Named): void {
  if (isOurs && policy) throw new ApiError('policyOnBaseDomain', { member: 'certificateManagementPolicy' });
  if (isOurs && certificateId) throw new ApiError('certificateOnBaseDomain', { member: MEMBER });
  if (certificateId && policy) throw new ApiError('certificateAndPolicy', { member: MEMBER });
}

/** @throws {ApiError} unless the account has the certificate, and visitors of the domain can trust it. */
async function checkCertificate(id: string, { domain }: Named, { accountId, app }: Context, db: Db): Promise<string> {
  const select = { dnsNames: true, notBefore: true, notAfter: true };
  const certificate = await db.tlsCertificate.findUnique({ where: { id, accountId }, select });
  if (!certificate) throw new ApiError('unknownCertificate', { member: MEMBER });
  const { dnsNames, notBefore, notAfter } = certificate;
  if (notAfter.getTime() <= app.now())
    throw new ApiError('certificateExpired', { member: MEMBER, end: rfc3339(notAfter) });
  // What is shown now stays until this one can take its place.
  if (notBefore.getTime() > app.now())
    throw new ApiError('certificateNotYetValid', { member: MEMBER, begin: rfc3339(notBefore) });
  if (!covers(dnsNames, domain)) {
    const told = dnsNames.slice(0, TOLD_MAX).join(', ') || 'no name at all';
    const names = dnsNames.length > TOLD_MAX ? `${told} and others` : told;
    throw new ApiError('certificateNames', { member: MEMBER, domain, names });
  }
  return id;
}

/** Whether a certificate for these names is one for the domain: a wildcard stands for one label (RFC 6125, section 6.4.3). */
function covers(names: string[], domain: string): boolean {
  return names.includes(domain) || names.includes(`*${domain.slice(domain.indexOf('.'))}`);
}
