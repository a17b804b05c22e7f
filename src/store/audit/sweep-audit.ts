// Deletes entries of the audit trail that are too old.

import type { PrismaClient } from '../database/client.ts';
import { lowestIdAt } from '../ids.ts';
import { AUDIT_PREFIX } from './audit-entries.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const BATCH = 1000;
/** So many batches a sweep: a million entries a day can go. */
const BATCHES_MAX = 20;

/**
 * Deletes the oldest entries, in batches, so that no statement takes long. Several nodes may do it at once.
 * @param days how long entries are kept; 0 deletes all.
 */
export async function sweepAudit(prisma: PrismaClient, days: number, now: number): Promise<void> {
  const oldest = lowestIdAt(AUDIT_PREFIX, now - days * DAY_MS);
  for (let batch = 0; batch < BATCHES_MAX; batch++) {
    const deleted = await prisma.$executeRaw`
      DELETE FROM audit_entry WHERE id IN (
        SELECT id FROM audit_entry WHERE id < ${oldest} ORDER BY id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;
    if (deleted < BATCH) return;
  }
}
