// Which domains have certificates obtained: those with a policy, each by one job.

import { createHash } from 'node:crypto';
import { ERRORS } from '../../acme/jobs/failures.ts';
import type { Revocation } from '../../acme/jobs/job.ts';
import { isBlocked } from '../../acme/jobs/waits.ts';
import type { Announce } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';

const KSUID_LENGTH = 27;

/**
 * To be called in the transaction of every write to a domain: begins a job when its policy wants a certificate, and ends it when the
 * policy is gone. The certificate of a job that ends goes with it, unless the domain still shows it.
 * @param now in milliseconds since 1970.
 */
export async function followPolicy(db: Db, announce: Announce, domainId: string, now: number): Promise<void> {
  const row = await db.reservedDomain.findUnique({
    where: { id: domainId },
    select: {
      accountId: true,
      domain: true,
      certificatePolicy: true,
      managedCertificate: {
        select: { id: true, privateKeyType: true, blockedUntil: true, certificate: { select: { id: true } } },
      },
    },
  });
  if (!row) return;
  const { accountId, domain, certificatePolicy, managedCertificate: managed } = row;
  const tell = (action: 'CREATED' | 'UPDATED' | 'DELETED') =>
    announce({ kind: 'domainCertificate', action, id: domainId, accountId });
  if (certificatePolicy === null) {
    if (!managed) return;
    await keepShown(db, managed.id);
    await db.managedCertificate.delete({ where: { id: managed.id } });
    return tell('DELETED');
  }
  const { privateKeyType } = certificatePolicy as { privateKeyType: string };
  const begin = { privateKeyType, startedAt: new Date(now), nextAt: new Date(now) };
  if (!managed) {
    const id = newId('mcert');
    await db.managedCertificate.create({ data: { id, domainId, accountId, names: [domain], ...begin } });
    return tell('CREATED');
  }
  if (managed.privateKeyType === privateKeyType) return;
  // What the authority has said about time is not forgotten.
  const blockedUntil = managed.blockedUntil?.getTime();
  const nextAt = new Date(isBlocked(blockedUntil, now) ? blockedUntil : now);
  await restartJob(db, managed.id, { ...begin, nextAt });
  tell('UPDATED');
}

/** The certificate of a job that ends stays where a domain shows it: this one, or another one that it covers. */
async function keepShown(db: Db, managedCertificateId: string): Promise<void> {
  await db.tlsCertificate.updateMany({
    where: { managedCertificateId, domains: { some: {} } },
    data: { managedCertificateId: null },
  });
}

/** To be called before a domain is deleted, and its job with it: the certificate stays where other domains show it. */
export async function keepShownElsewhere(db: Db, domainId: string): Promise<void> {
  const domains = { some: { id: { not: domainId } } };
  await db.tlsCertificate.updateMany({
    where: { managed: { domainId }, domains },
    data: { managedCertificateId: null },
  });
}

/** Begins a job anew, whatever a process is doing for it at this moment. A revocation that was asked for stays. */
export async function restartJob(
  db: Db,
  id: string,
  change: { startedAt: Date; nextAt: Date; privateKeyType?: string },
): Promise<void> {
  await db.managedCertificate.update({
    where: { id },
    data: {
      ...change,
      state: 'WAITING_DNS',
      attempts: 0,
      lookups: 0,
      awayCount: 0,
      errorCode: null,
      message: '',
      order: Prisma.DbNull,
      leaseUntil: null,
      leaseNumber: { increment: 1 },
    },
  });
  // Nobody expects the authority any more.
  await db.acmeChallenge.deleteMany({ where: { managedCertificateId: id } });
}

/** Has a job ask for a revocation before anything else, whatever a process is doing for it at this moment. */
export async function requestRevocation(db: Db, id: string, revocation: Revocation, nextAt: Date): Promise<void> {
  await db.managedCertificate.update({
    where: { id },
    // A step under way would store when the job is due next: it begins anew.
    data: { revocation: { ...revocation }, nextAt, leaseUntil: null, leaseNumber: { increment: 1 } },
  });
}

/**
 * Has the jobs gone on with that a process was working on when it ended, without waiting for the end of its leases. Where other
 * nodes are alive nothing is done, as it may be one of them. Who works on a job after all cannot store what comes of it.
 * @param nodeId this node; undefined: no other process can use the database.
 */
export async function endLeases(db: Db, nodeId: string | undefined): Promise<void> {
  if (nodeId !== undefined) {
    const others = await db.$queryRaw<
      object[]
    >`SELECT 1 FROM node WHERE lease_until > now() AND id <> ${nodeId} LIMIT 1`;
    if (others.length > 0) return;
  }
  await db.managedCertificate.updateMany({
    where: { leaseUntil: { not: null } },
    data: { leaseUntil: null, leaseNumber: { increment: 1 } },
  });
}

/** Begins jobs for domains whose policies are older than jobs are. */
export async function adoptDomains(db: Db): Promise<void> {
  await db.$executeRaw`
    INSERT INTO managed_certificate (id, domain_id, account_id, names, private_key_type, started_at)
    SELECT 'mcert_' || substr(id, 4), id, account_id, ARRAY[domain], certificate_policy ->> 'privateKeyType', created_at
    FROM reserved_domain AS domain
    WHERE certificate_policy IS NOT NULL AND NOT EXISTS (SELECT FROM managed_certificate WHERE domain_id = domain.id)
    ON CONFLICT DO NOTHING`;
}

/** Has the jobs of the gateway's own names be those of these sets of names, each with one certificate. */
export async function adoptOwnNames(db: Db, sets: readonly (readonly string[])[]): Promise<void> {
  const rows = await db.managedCertificate.findMany({
    where: { domainId: null, accountId: '' },
    select: { id: true, names: true },
  });
  const keyOf = (names: readonly string[]) => [...names].sort().join();
  const wanted = new Map(sets.map((names) => [keyOf(names), names]));
  for (const { id, names } of rows)
    if (!wanted.delete(keyOf(names))) await db.managedCertificate.deleteMany({ where: { id } });
  // Of nodes that start at the same time, each makes the same.
  const idOf = (key: string) => `mcert_${createHash('sha256').update(key).digest('hex').slice(0, KSUID_LENGTH)}`;
  const data = [...wanted].map(([key, names]) => ({
    id: idOf(key),
    accountId: '',
    names: [...names],
    privateKeyType: 'ecdsa',
  }));
  await db.managedCertificate.createMany({ data, skipDuplicates: true });
}

/**
 * Ends every wait that an authority has asked for: what waits for it is due now.
 * @returns how many certificates that are.
 */
export async function endWaits(db: Db, directoryUrl: string, now: number): Promise<number> {
  await db.acmeAccount.updateMany({ where: { directoryUrl }, data: { blockedUntil: null } });
  const { count } = await db.managedCertificate.updateMany({
    where: { blockedUntil: { not: null } },
    data: { blockedUntil: null, nextAt: new Date(now) },
  });
  return count;
}

/** Has the jobs tried again that were paused as the account was suspended. */
export async function resumeSuspended(db: Db, now: number): Promise<void> {
  await db.managedCertificate.updateMany({
    where: { state: 'PAUSED', errorCode: ERRORS.accountSuspended },
    data: { state: 'FAILED_RETRYING', nextAt: new Date(now) },
  });
}
