// The transactional outbox: events wait in it, one batch per destination and transaction, until they are delivered.

import { packEvents } from '../../events/batch.ts';
import { writeEvent } from '../../events/event.ts';
import type { EventName } from '../../events/types.ts';
import type { Db } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { AuditContext, AuditEvent } from './audit.ts';

/** A destination that gets a type of event. */
export interface SubscriptionRow {
  accountId: string;
  type: string;
  destinationId: string;
}

/** Which destinations get which types of event, per account. */
export class SubscriptionLookup {
  /** Ids of destinations by account and type. */
  readonly #destinations = new Map<string, string[]>();

  constructor(rows: readonly SubscriptionRow[]) {
    for (const { accountId, type, destinationId } of rows) {
      const key = keyOf(accountId, type);
      const known = this.#destinations.get(key);
      if (known) known.push(destinationId);
      else this.#destinations.set(key, [destinationId]);
    }
  }

  get isEmpty(): boolean {
    return this.#destinations.size === 0;
  }

  /** Whether any of the accounts has a subscription to a type. */
  hasSubscribers(type: EventName): boolean {
    return [...this.#destinations.keys()].some((key) => key.endsWith(keyOf('', type)));
  }

  /** The ids of the destinations that get an event. */
  destinationsOf({ accountId, type }: Pick<AuditEvent, 'accountId' | 'type'>): readonly string[] {
    return this.#destinations.get(keyOf(accountId, type)) ?? [];
  }
}

const keyOf = (accountId: string, type: string) => `${accountId} ${type}`;

/** The current subscriptions of these accounts to these types. It takes one statement. */
export async function findSubscriptions(
  db: Db,
  accountIds: readonly string[],
  types: readonly EventName[],
): Promise<SubscriptionLookup> {
  return new SubscriptionLookup(await db.$queryRaw<SubscriptionRow[]>(subscriptionSelect(accountIds, types)));
}

/** The SELECT of the subscriptions of these accounts to these types: rows are `SubscriptionRow`s. */
export function subscriptionSelect(accountIds: readonly string[], types: readonly EventName[]): Prisma.Sql {
  return Prisma.sql`
    SELECT DISTINCT s.account_id AS "accountId", e.type, d.destination_id AS "destinationId"
    FROM event_subscription s JOIN event_source e ON e.subscription_id = s.id
    JOIN subscription_destination d ON d.subscription_id = s.id
    WHERE s.account_id = ANY(${[...new Set(accountIds)]}) AND e.type = ANY(${types})`;
}

/**
 * Writes events for the destinations that subscribe to them: one batch per destination, in the given order. An event has the same
 * id at every destination. Events without subscribers are not written.
 */
export async function writeAudit(
  { db, announce }: Pick<AuditContext, 'db' | 'announce'>,
  events: readonly AuditEvent[],
  subscriptions: SubscriptionLookup,
): Promise<void> {
  const at = Date.now();
  const batches = new Map<string, { accountId: string; texts: string[] }>();
  for (const event of events) {
    const destinationIds = subscriptions.destinationsOf(event);
    if (destinationIds.length === 0) continue;
    const text = writeEvent({ ...event, id: newId('ev'), at });
    for (const id of destinationIds) {
      const batch = batches.get(id);
      if (batch) batch.texts.push(text);
      else batches.set(id, { accountId: event.accountId, texts: [text] });
    }
  }
  for (const [id, { accountId, texts }] of batches) {
    const { count, body } = await packEvents(texts);
    // Nothing is inserted for a destination that is being deleted.
    const written = await db.$executeRaw`
      INSERT INTO event_batch (destination_id, is_traffic, count, bytes, body)
      SELECT id, false, ${count}, ${body.length}, ${body} FROM event_destination WHERE id = ${id} FOR KEY SHARE`;
    if (written > 0) announce({ kind: 'eventDelivery', action: 'CREATED', id, accountId });
  }
}
