// What subscriptions and their sources share: one type of event that a subscription delivers, and what of it.

import { isSelectable, isTrafficEvent } from '../../../events/traffic/fields.ts';
import { trafficObjects } from '../../../events/traffic/gateway-objects.ts';
import type { EventName } from '../../../events/types.ts';
import type { Db } from '../../../store/database/client.ts';
import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { checkBytes } from '../../text-limits.ts';
import { eventTypes, isEventName } from './catalog.ts';

const FIELDS_MAX = 100;
const FILTER_MAX_BYTES = 4096;

/** Of which events a source delivers what, as the database holds it. */
export interface Choice {
  fields: string[];
  filter: string;
  sampleRate: number;
}

/** What names a source. */
export interface SourceKey {
  subscriptionId: string;
  type: string;
}

export interface Source extends SourceKey, Choice {
  position: number;
}

export const EventSource = builder.objectRef<Source>('EventSource').implement({
  description: 'One type of event that an event subscription delivers.',
  fields: (t) => ({
    type: t.exposeString('type', {
      description: 'The type of event, as `domain_created.v0`; `eventTypes` has them all.',
    }),
    fields: t.exposeStringList('fields', {
      description: 'Of traffic events: the only members of their object to deliver; an empty list is all of them.',
    }),
    filter: t.exposeString('filter', {
      description: 'Of traffic events: the expression that says which are delivered; "" is all of them.',
    }),
    sampleRate: t.exposeFloat('sampleRate', {
      description: 'Of traffic events: which share of them is delivered, above 0 to 1.',
    }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ subscriptionId, type }, _, context) =>
        context.uri(`/event_subscriptions/${subscriptionId}/sources/${type}`),
    }),
  }),
});

const fieldsHelp =
  'Only for traffic events: the members of their object to deliver, each once; at most 100. A name as ' +
  '`http.request.method`, or all below a prefix as `http.request`. `eventTypes` has the fields of each type.';
const filterHelp =
  'Only for traffic events: an expression of CEL on `ev`, the object of the event, that says which to deliver, as ' +
  '`ev.http.response.status_code >= 500`; at most 4096 bytes.';
const rateHelp = 'Only for traffic events: which share of them to deliver, above 0 to 1, chosen at random.';

export const EventSourceInput = builder.inputType('EventSourceInput', {
  description: 'One type of event to deliver.',
  fields: (t) => ({
    type: t.string({ required: true, description: 'The type of event; `eventTypes` has them all.' }),
    fields: t.stringList({ description: `${fieldsHelp} All of them when left out or empty.` }),
    filter: t.string({ description: `${filterHelp} All of them when left out or "".` }),
    sampleRate: t.float({ description: `${rateHelp} 1 when left out.` }),
  }),
});

export const UpdateEventSourceInput = builder.inputType('UpdateEventSourceInput', {
  description: 'What to change of a source; a member left out or null stays as it is.',
  fields: (t) => ({
    type: t.string({ description: 'The type of event, if anything the one it has: a source cannot change it.' }),
    fields: t.stringList({ description: `${fieldsHelp} An empty list clears it: then all are delivered.` }),
    filter: t.string({ description: `${filterHelp} "" clears it.` }),
    sampleRate: t.float({ description: rateHelp }),
  }),
});

/** What a query selects of a subscription's sources. */
export const sourceColumns = {
  subscriptionId: true,
  type: true,
  fields: true,
  filter: true,
  sampleRate: true,
  position: true,
} as const;

/** In the order in which they were given; those of earlier versions, which wrote none, in alphabetical order. */
export function inOrder(sources: Source[]): Source[] {
  return sources.toSorted((a, b) => a.position - b.position || (a.type < b.type ? -1 : 1));
}

/** @throws {ApiError} unless there is such a type of event. */
export function checkType(type: string, member: string): EventName {
  if (isEventName(type)) return type;
  throw new ApiError('unknownEventType', {
    member,
    known: eventTypes()
      .map(({ name }) => name)
      .join(', '),
  });
}

type ChoiceInput = Partial<{ [Member in keyof Choice]: Choice[Member] | null }>;

/**
 * What an input says of which events to deliver what, as the database takes it: what was not given is undefined.
 * @param prefix what stands before the names of its members, as `sources[0].`.
 * @throws {ApiError} naming the members that are wrong, or not for this type of event.
 */
export async function checkChoice(type: EventName, input: ChoiceInput, prefix = '') {
  const { fields, filter, sampleRate } = input;
  await checkAll({
    fields: () => fields && checkFields(type, fields, `${prefix}fields`),
    filter: async () => filter && checkFilterText(type, filter, `${prefix}filter`),
    sampleRate: () => sampleRate != null && sampleRate !== 1 && checkRate(type, sampleRate, `${prefix}sampleRate`),
  });
  return { fields: fields ?? undefined, filter: filter ?? undefined, sampleRate: sampleRate ?? undefined };
}

function checkFields(type: EventName, fields: string[], member: string): void {
  if (fields.length === 0) return;
  if (!isTrafficEvent(type)) throw new ApiError('fieldsOfAudit', { member, type });
  if (fields.length > FIELDS_MAX) throw new ApiError('tooManyFields', { member, max: FIELDS_MAX });
  checkEach(fields, (actual, index) => {
    const place = { member: `${member}[${index}]`, actual };
    if (!isSelectable(trafficObjects[type].fields, actual)) throw new ApiError('unknownField', { ...place, type });
    if (fields.indexOf(actual) < index) throw new ApiError('fieldRepeated', place);
  });
}

async function checkFilterText(type: EventName, filter: string, member: string): Promise<void> {
  if (!isTrafficEvent(type)) throw new ApiError('filterOfAudit', { member, type });
  checkBytes(member, filter, FILTER_MAX_BYTES, 'filterTooLong');
  const { checkFilter } = await import('../../../events/traffic/filter.ts');
  const reason = checkFilter(filter, trafficObjects[type].shape);
  if (reason !== undefined) throw new ApiError('badFilter', { member, reason });
}

function checkRate(type: EventName, rate: number, member: string): void {
  if (!isTrafficEvent(type)) throw new ApiError('sampleRateOfAudit', { member, type });
  if (!(rate > 0 && rate <= 1)) throw new ApiError('badSampleRate', { member });
}

/**
 * Lets one write at a time change what belongs to a subscription.
 * @throws {ApiError} when the account has no such subscription.
 */
export async function lockSubscription(db: Db, { id, accountId }: { id: string; accountId: string }): Promise<void> {
  const rows = await db.$queryRaw<unknown[]>`
    SELECT id FROM event_subscription WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`;
  if (rows.length === 0) throw new ApiError('notFound', { kind: 'event subscription' });
}
