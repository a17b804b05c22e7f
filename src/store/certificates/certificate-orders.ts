// The history of orders, by which the limits of authorities are kept: also those of domains that are gone count.

import type { CertificateJob } from '../../acme/jobs/job.ts';
import type { EarlierOrders, JobStore, NewOrder } from '../../acme/jobs/job-store.ts';
import { LONGEST_WINDOW_MS } from '../../acme/jobs/limits.ts';
import type { Db } from '../database/client.ts';
import { newId } from '../ids.ts';

/** How long orders are kept, in milliseconds. */
export const HISTORY_MS = 90 * 86_400_000;

/** As `JobStore.countOrder`. Orders at one authority are counted one after the other, over all nodes. */
export async function countOrder(
  db: Db,
  job: CertificateJob,
  { directoryUrl, registeredDomain, isRenewal, now }: NewOrder,
  check: Parameters<JobStore['countOrder']>[2],
): ReturnType<JobStore['countOrder']> {
  await db.$queryRaw`SELECT directory_url FROM acme_account WHERE directory_url = ${directoryUrl} FOR UPDATE`;
  await abandonOrders(db, job, now);
  const reached = check(await earlierOrders(db, job, directoryUrl, registeredDomain, now));
  if (reached) return reached;
  const { id: managedCertificateId, accountId, names } = job;
  const id = newId('corder');
  await db.certificateOrder.create({
    data: {
      id,
      managedCertificateId,
      accountId,
      directoryUrl,
      names: [...names],
      registeredDomain,
      isRenewal,
      orderedAt: new Date(now),
    },
  });
  return { recordId: id };
}

/** Ends the order of a job, if one is under way, or was counted but not placed. */
export async function endOrder(
  db: Db,
  { id: managedCertificateId }: CertificateJob,
  at: number,
  result: { outcome: 'issued' | 'failed'; errorCode?: number | null | undefined; message?: string },
): Promise<void> {
  const { errorCode = null, ...same } = result;
  await db.certificateOrder.updateMany({
    where: { managedCertificateId, endedAt: null },
    data: { ...same, errorCode, endedAt: new Date(at) },
  });
}

/** Those that were counted by a process which then ended. */
async function abandonOrders(db: Db, { id, order }: CertificateJob, now: number): Promise<void> {
  await db.certificateOrder.updateMany({
    where: { managedCertificateId: id, endedAt: null, NOT: { id: order?.recordId ?? '' } },
    data: { endedAt: new Date(now), outcome: 'abandoned' },
  });
}

async function earlierOrders(
  db: Db,
  job: CertificateJob,
  directoryUrl: string,
  registeredDomain: string,
  now: number,
): Promise<EarlierOrders> {
  const orders = await db.certificateOrder.findMany({
    where: { directoryUrl, isRenewal: false, orderedAt: { gt: new Date(now - LONGEST_WINDOW_MS) } },
    select: { names: true, registeredDomain: true, orderedAt: true, endedAt: true, outcome: true },
  });
  const timesOf = (rows: typeof orders) => rows.map(({ orderedAt }) => orderedAt.getTime());
  const mayBeIssued = orders.filter(({ outcome }) => outcome === null || outcome === 'issued');
  const ofDomain = mayBeIssued.filter((row) => row.registeredDomain === registeredDomain);
  const nameSet = [...job.names].sort().join();
  // Also those that nobody went on with: a process that dies again and again would order for ever.
  const isFailed = (outcome: string | null) => outcome === 'failed' || outcome === 'abandoned';
  const failed = orders.filter((row) => isFailed(row.outcome) && row.names.some((name) => job.names.includes(name)));
  return {
    all: timesOf(orders),
    ofRegisteredDomain: timesOf(ofDomain),
    ofSameNames: timesOf(ofDomain.filter(({ names }) => [...names].sort().join() === nameSet)),
    failed: failed.map(({ endedAt, orderedAt }) => (endedAt ?? orderedAt).getTime()),
  };
}
