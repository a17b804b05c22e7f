// Event subscriptions: which types of event go to which destinations.

import type { Db } from '../../../store/database/client.ts';
import { newId } from '../../../store/ids.ts';
import { builder, Ref } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { NOTED_MEMBERS, relatedTexts } from '../../collections/members.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkTexts } from '../../text-limits.ts';
import {
  type Choice,
  checkChoice,
  checkType,
  EventSource,
  EventSourceInput,
  inOrder,
  lockSubscription,
  sourceColumns,
} from './source.ts';

const DESTINATIONS_MAX = 100;

const EventSubscription = builder.prismaObject('EventSubscription', {
  description: 'Types of event, and the destinations they are delivered to.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `esb_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/event_subscriptions/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    sources: t.field({
      type: [EventSource],
      description: 'The types of event it delivers, in the order they were given.',
      select: { sources: { select: sourceColumns } },
      resolve: ({ sources }) => inOrder(sources),
    }),
    destinations: t.field({
      type: [Ref],
      description: 'The event destinations it delivers to, in the order they were given.',
      select: { destinations: { select: { destinationId: true }, orderBy: { position: 'asc' } } },
      resolve: ({ destinations }) =>
        destinations.map(({ destinationId }) => ({ id: destinationId, path: `/event_destinations/${destinationId}` })),
    }),
  }),
});

/** The types of event of a subscription as the search shows them, in SQL. */
const SOURCES = `(SELECT string_agg(type, ', ' ORDER BY position, type) FROM event_source WHERE subscription_id = t.id)`;

export const eventSubscriptions = collection({
  kind: 'eventSubscription',
  prefix: 'esb',
  path: '/event_subscriptions',
  single: 'eventSubscription',
  plural: 'eventSubscriptions',
  typeName: 'EventSubscription',
  ref: EventSubscription,
  members: {
    ...NOTED_MEMBERS,
    sources: relatedTexts('sources', 'type'),
    destinations: relatedTexts('destinations', 'destinationId'),
  },
  table: (db) => db.eventSubscription,
  audit: { name: 'event_subscription', subject: 'An event subscription' },
  search: {
    ...{ rank: 180, table: 'event_subscription', title: 't.description', detail: SOURCES },
    texts: [...NOTE_COLUMNS, SOURCES],
  },
});

const CreateEventSubscriptionInput = builder.inputType('CreateEventSubscriptionInput', {
  description: 'A new event subscription. Every member may be left out.',
  fields: (t) => ({
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    sources: t.field({ type: [EventSourceInput], description: 'The types of event to deliver, each once.' }),
    destinationIds: t.idList({ description: 'The ids of the destinations to deliver to, each once; at most 100.' }),
  }),
});

const UpdateEventSubscriptionInput = builder.inputType('UpdateEventSubscriptionInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    sources: t.field({
      type: [EventSourceInput],
      description: 'The types of event to deliver, each once. Replaces the whole list; an empty one clears it.',
    }),
    destinationIds: t.idList({
      description:
        'The ids of the destinations to deliver to, each once; at most 100. Replaces the whole list; an empty one ' +
        'clears it.',
    }),
  }),
});

builder.mutationField('createEventSubscription', (t) =>
  t.prismaField({
    type: EventSubscription,
    nullable: true,
    access: { kind: 'eventSubscription' },
    description: 'Creates an event subscription. From now on events of its types are delivered to its destinations.',
    args: {
      input: t.arg({ type: CreateEventSubscriptionInput, required: true, description: 'The event subscription.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (query, _, { input }, context) => {
      const { accountId } = context;
      const data = { ...checkTexts(input), id: newId(eventSubscriptions.prefix), accountId };
      const sources = await checkSources(input.sources ?? []);
      return context.create(eventSubscriptions, async (db) => {
        const destinations = await checkDestinations(db, accountId, input.destinationIds ?? []);
        const joined = {
          sources: { createMany: { data: sources } },
          destinations: { createMany: { data: destinations } },
        };
        return db.eventSubscription.create({ ...query, data: { ...data, ...joined } });
      });
    },
  }),
);

builder.mutationField('updateEventSubscription', (t) =>
  t.prismaField({
    type: EventSubscription,
    nullable: true,
    access: { kind: 'eventSubscription' },
    description: 'Changes an event subscription.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the event subscription.' }),
      input: t.arg({ type: UpdateEventSubscriptionInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const data = checkTexts(input);
      const sources = input.sources && (await checkSources(input.sources));
      return context.update(eventSubscriptions, id, async (db) => {
        await lockSubscription(db, where);
        if (sources) await replaceSources(db, id, sources);
        if (input.destinationIds) {
          const destinations = await checkDestinations(db, context.accountId, input.destinationIds);
          await replaceDestinations(db, id, destinations);
        }
        return db.eventSubscription.update({ ...query, where, data });
      });
    },
  }),
);

deleteMutation(eventSubscriptions, 'deleteEventSubscription', {
  description: 'Deletes an event subscription: its events are no longer delivered. Answers with its id.',
});

type NewSource = { type: string; position: number } & Partial<Choice>;

/** @returns them with their places. @throws {ApiError} for a type that is not known, or stands twice, or cannot be chosen from so. */
async function checkSources(sources: (typeof EventSourceInput.$inferInput)[]): Promise<NewSource[]> {
  const checked: NewSource[] = [];
  for (const [position, source] of sources.entries()) {
    const type = checkType(source.type, `sources[${position}].type`);
    if (sources.findIndex((other) => other.type === type) < position)
      throw new ApiError('eventTypeRepeated', { member: `sources[${position}].type`, type });
    checked.push({ type, position, ...(await checkChoice(type, source, `sources[${position}].`)) });
  }
  return checked;
}

/** @throws {ApiError} for a destination that the account does not have, or that stands twice. */
async function checkDestinations(db: Db, accountId: string, ids: string[]) {
  const max = DESTINATIONS_MAX;
  if (ids.length > max) throw new ApiError('tooManyDestinations', { member: 'destinationIds', max });
  const rows = await db.eventDestination.findMany({ where: { id: { in: ids }, accountId }, select: { id: true } });
  const known = new Set(rows.map(({ id }) => id));
  ids.forEach((id, index) => {
    const member = `destinationIds[${index}]`;
    if (!known.has(id)) throw new ApiError('unknownDestination', { member });
    if (ids.indexOf(id) < index) throw new ApiError('destinationRepeated', { member });
  });
  return ids.map((destinationId, position) => ({ destinationId, position }));
}

async function replaceSources(db: Db, subscriptionId: string, sources: NewSource[]): Promise<void> {
  await db.eventSource.deleteMany({ where: { subscriptionId } });
  await db.eventSource.createMany({ data: sources.map((source) => ({ ...source, subscriptionId })) });
}

async function replaceDestinations(
  db: Db,
  subscriptionId: string,
  destinations: { destinationId: string; position: number }[],
): Promise<void> {
  await db.subscriptionDestination.deleteMany({ where: { subscriptionId } });
  await db.subscriptionDestination.createMany({ data: destinations.map((to) => ({ ...to, subscriptionId })) });
}

const selection =
  'id uri createdAt description metadata sources { type fields filter sampleRate uri } destinations { id uri }';

export const routes = [
  route('POST', '/event_subscriptions', 201, 'createEventSubscription', selection),
  ...readRoutes(eventSubscriptions, 'event_subscriptions', selection),
  route('PATCH', '/event_subscriptions/:id', 200, 'updateEventSubscription', selection),
  route('DELETE', '/event_subscriptions/:id', 204, 'deleteEventSubscription'),
];
