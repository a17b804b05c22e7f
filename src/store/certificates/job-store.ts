// The jobs that obtain certificates, in the database: which step is next, who works on it, and what has come of it.

import type { CertificateJob, Challenge, ChallengeKind, IssuedCertificate, JobPatch } from '../../acme/jobs/job.ts';
import { type JobStore, LeaseLost } from '../../acme/jobs/job-store.ts';
import { LONGEST } from '../../acme/jobs/waits.ts';
import type { Announce, Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { Keys } from '../keys/keys.ts';
import { endKeyChange, openAccount, replaceAccount, saveAccount } from './acme-accounts.ts';
import { writeCertificateEvent } from './certificate-events.ts';
import { countOrder, endOrder } from './certificate-orders.ts';
import { type CertificateFacts, installCertificate } from './install-certificate.ts';
import { jobSelect, toColumns, toJob } from './job-rows.ts';

export interface JobStoreDeps {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  /** What the API shows of a certificate in PEM. @throws when TLS cannot be spoken with it and its key. */
  read(issued: IssuedCertificate, now: number): CertificateFacts;
  /** The URL that the URIs in events begin with, without a slash at its end. */
  baseUrl(): string;
}

export function certificateJobStore(deps: JobStoreDeps): JobStore {
  const { prisma, changes, keys } = deps;

  /** Ends a step, in a transaction that fails when another process has the job. */
  const end = (job: CertificateJob, patch: JobPatch, more?: (db: Db, announce: Announce) => Promise<void>) =>
    changes.transaction(prisma, async (db, announce) => {
      await more?.(db, announce);
      const { id, accountId, leaseNumber } = job;
      const { count } = await db.managedCertificate.updateMany({
        where: { id, leaseNumber },
        data: toColumns(keys, id, patch),
      });
      if (count === 0) throw new LeaseLost(`${id} is worked on elsewhere`);
      announce({ kind: 'domainCertificate', action: 'UPDATED', id: job.domain?.id ?? id, accountId });
    });

  return {
    async claim(now, leaseMs, limit) {
      const [at, until] = [new Date(now), new Date(now + leaseMs)];
      const latest = new Date(now + leaseMs + LONGEST.clocks);
      const claimed = await prisma.$queryRaw<{ id: string; leaseNumber: number }[]>`
        UPDATE managed_certificate SET lease_until = ${until}, lease_number = lease_number + 1
        WHERE id IN (
          SELECT id FROM managed_certificate
          WHERE (next_at <= ${at} OR next_at > ${at}::timestamptz + ${longestWait})
            AND (lease_until IS NULL OR lease_until <= ${at} OR lease_until > ${latest})
          ORDER BY next_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ) RETURNING id, lease_number AS "leaseNumber"`;
      if (claimed.length === 0) return [];
      const numbers = new Map(claimed.map(({ id, leaseNumber }) => [id, leaseNumber]));
      const where = { id: { in: [...numbers.keys()] } };
      const rows = await prisma.managedCertificate.findMany({ where, select: jobSelect });
      // The lease is the number that was claimed: by now the row may have that of another process.
      return rows.map((row) => toJob(keys, { ...row, leaseNumber: numbers.get(row.id) ?? row.leaseNumber }));
    },

    async nextDueAt() {
      const [row] = await prisma.$queryRaw<{ at: Date | null }[]>`
        SELECT min(greatest(next_at, coalesce(lease_until, next_at))) AS at FROM managed_certificate WHERE next_at IS NOT NULL`;
      return row?.at?.getTime() ?? null;
    },

    save: (job, patch) => end(job, patch),

    publish: (job, challenges, expiresAt) =>
      prisma.$transaction(async (db) => {
        await holdLease(db, job);
        await db.acmeChallenge.deleteMany({ where: { managedCertificateId: job.id } });
        const common = { managedCertificateId: job.id, expiresAt: new Date(expiresAt) };
        await db.acmeChallenge.createMany({
          data: challenges.map((challenge) => ({ ...challenge, ...common, id: newId('chal') })),
        });
      }),

    async challengesOf({ id }) {
      const select = { kind: true, name: true, token: true, value: true, url: true } as const;
      const rows = await prisma.acmeChallenge.findMany({
        where: { managedCertificateId: id, url: { not: '' } },
        select,
      });
      return rows.map((row): Challenge => ({ ...row, kind: row.kind as ChallengeKind }));
    },

    countOrder: (job, order, check) =>
      prisma.$transaction(async (db) => {
        await holdLease(db, job);
        return countOrder(db, job, order, check);
      }),

    install: (job, patch, issued, at) =>
      end(job, patch, async (db, announce) => {
        await holdLease(db, job);
        const facts = deps.read(issued, at);
        await installCertificate({ db, announce, keys }, job, facts, issued.privateKey, at);
        await endOrder(db, job, at, { outcome: 'issued' });
        await db.acmeChallenge.deleteMany({ where: { managedCertificateId: job.id } });
        const type = job.certificate ? 'domain_certificate_renewed.v0' : 'domain_certificate_issued.v0';
        await writeCertificateEvent({ db, announce, baseUrl: deps.baseUrl() }, type, job, patch, facts);
      }),

    fail: (job, patch, at, isTold) =>
      end(job, patch, async (db, announce) => {
        const { errorCode, message = '' } = patch;
        await endOrder(db, job, at, { outcome: 'failed', errorCode, message });
        await db.acmeChallenge.deleteMany({ where: { managedCertificateId: job.id } });
        if (!isTold) return;
        await writeCertificateEvent(
          { db, announce, baseUrl: deps.baseUrl() },
          'domain_certificate_failed.v0',
          job,
          patch,
        );
      }),

    account: (directoryUrl, newKey) => openAccount(prisma, keys, directoryUrl, newKey),
    saveAccount: (directoryUrl, change) => saveAccount(prisma, directoryUrl, change),
    replaceAccount: (directoryUrl, key, newKey) => replaceAccount(prisma, keys, directoryUrl, key, newKey),
    endKeyChange: (directoryUrl, key, isDone) => endKeyChange(prisma, keys, directoryUrl, key, isDone),
  };
}

/**
 * The longest wait of a job, as SQL. The renewal of a certificate without a window of the authority's is as far away as it is; that time
 * follows from the certificate, and not from a clock.
 */
const longestWait = (() => {
  const ms = (value: number) => Prisma.sql`make_interval(secs => ${value / 1000}::float8)`;
  const failed = LONGEST.failed.map((value, index) => Prisma.sql`WHEN attempts <= ${index + 1} THEN ${ms(value)}`);
  return Prisma.sql`CASE
    WHEN state = 'issued' AND renewal_info IS NULL THEN make_interval(years => 100)
    WHEN blocked_until IS NOT NULL THEN ${ms(LONGEST.blocked)}
    WHEN state = 'waiting_dns' THEN ${ms(LONGEST.records)}
    WHEN state <> 'failed_retrying' THEN ${ms(LONGEST.step)}
    ${Prisma.join(failed, ' ')}
    ELSE ${ms(LONGEST.failedOften)} END`;
})();

/** Until the transaction ends, no other process takes the job. @throws {LeaseLost} when one has. */
async function holdLease(db: Db, { id, leaseNumber }: CertificateJob): Promise<void> {
  const [row] = await db.$queryRaw<{ leaseNumber: number }[]>`
    SELECT lease_number AS "leaseNumber" FROM managed_certificate WHERE id = ${id} FOR UPDATE`;
  if (row?.leaseNumber !== leaseNumber) throw new LeaseLost(`${id} is worked on elsewhere`);
}
