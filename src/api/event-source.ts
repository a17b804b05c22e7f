// What subscriptions and their sources share: one type of event that a subscription delivers.

import { type EventName, eventTypes, isEventName } from '../events/types.ts';
import type { Db } from '../store/client.ts';
import { builder } from './builder.ts';
import { ApiError } from './errors.ts';

export interface Source {
  subscriptionId: string;
  type: string;
}

export const EventSource = builder.objectRef<Source>('EventSource').implement({
  description: 'One type of event that an event subscription delivers.',
  fields: (t) => ({
    type: t.exposeString('type', {
      description: 'The type of event, as `domain_created.v0`; `eventTypes` has them all.',
    }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ subscriptionId, type }, _, context) =>
        context.uri(`/event_subscriptions/${subscriptionId}/sources/${type}`),
    }),
  }),
});

export const EventSourceInput = builder.inputType('EventSourceInput', {
  description: 'One type of event to deliver.',
  fields: (t) => ({
    type: t.string({ required: true, description: 'The type of event; `eventTypes` has them all.' }),
  }),
});

/** What a query selects of a subscription's sources. */
export const sourceColumns = { subscriptionId: true, type: true } as const;

/** In alphabetical order, whatever that is to the database. */
export function sorted(sources: Source[]): Source[] {
  return sources.toSorted((a, b) => (a.type < b.type ? -1 : 1));
}

/** @throws {ApiError} unless there is such a type of event. */
export function checkType(type: string, member: string): EventName {
  if (isEventName(type)) return type;
  throw new ApiError('unknownEventType', { member, known: eventTypes.map(({ name }) => name).join(', ') });
}

/**
 * Lets one write at a time change what belongs to a subscription.
 * @throws {ApiError} when the account has no such subscription.
 */
export async function lockSubscription(db: Db, { id, accountId }: { id: string; accountId: string }): Promise<void> {
  const rows = await db.$queryRaw<unknown[]>`
    SELECT id FROM event_subscription WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`;
  if (rows.length === 0) throw new ApiError('notFound', { thing: 'event subscription' });
}
