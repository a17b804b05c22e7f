// What a transaction records of its writes, written at its end in one statement with the notice to the other processes.

import type { EventName } from '../../events/types.ts';
import { type AuditRow, auditInsert, auditRow, type NewAuditEntry } from '../audit/audit-entries.ts';
import type { Announce } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { AuditEvent } from './audit.ts';
import { SubscriptionLookup, type SubscriptionRow, subscriptionSelect, writeAudit } from './outbox.ts';

/** Events for those who subscribe to them, and entries of the audit trail, in the order in which they were recorded. */
export class Recorded {
  readonly #events: AuditEvent[] = [];
  readonly #entries: AuditRow[] = [];

  event(event: AuditEvent): void {
    this.#events.push(event);
  }

  entry(entry: NewAuditEntry, announce: Announce): void {
    const row = auditRow(entry);
    this.#entries.push(row);
    announce(row.change);
  }

  /** Writes all. @param notice sends the transaction's notice: a SELECT that comes along. */
  async write(db: Db, announce: Announce, notice: Prisma.Sql | undefined): Promise<void> {
    const [events, entries] = [this.#events, this.#entries];
    if (events.length === 0 && entries.length === 0) {
      if (notice) await db.$executeRaw(notice);
      return;
    }
    const types = [...new Set(events.map(({ type }) => type))];
    const accountIds = events.map(({ accountId }) => accountId);
    const [told] = await db.$queryRaw<[{ subscriptions: SubscriptionRow[] | null }]>`
      WITH entry AS (${entries.length > 0 ? auditInsert(entries) : NOTHING}), notice AS (${notice ?? NOTHING})
      SELECT (SELECT count(*) FROM notice)::int AS notices, ${subscriptionsTo(accountIds, types)} AS subscriptions`;
    if (told.subscriptions) await writeAudit({ db, announce }, events, new SubscriptionLookup(told.subscriptions));
  }
}

const NOTHING = Prisma.sql`SELECT`;

function subscriptionsTo(accountIds: readonly string[], types: readonly EventName[]): Prisma.Sql {
  if (types.length === 0) return Prisma.sql`NULL::json`;
  return Prisma.sql`(SELECT json_agg(found) FROM (${subscriptionSelect(accountIds, types)}) AS found)`;
}
