// Event subscriptions: which types of event go to which destinations.

import type { Db } from '../../../store/database/client.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { NOTED_MEMBERS, relatedTexts } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { references, typeOfKind } from '../../collections/references.ts';
import { resource } from '../../collections/resource.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
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

const ROW = { prefix: 'esb', path: '/event_subscriptions' };

const EventSubscription = builder.prismaObject('EventSubscription', {
  description: 'Types of event, and the destinations they are delivered to.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, ROW),
    sources: t.field({
      type: [EventSource],
      description: 'The types of event it delivers, in the order they were given.',
      select: { sources: { select: sourceColumns } },
      resolve: ({ sources }) => inOrder(sources),
    }),
    destinations: t.field({
      type: [typeOfKind('eventDestination')],
      description: 'The event destinations it delivers to, in the order they were given.',
      select: { destinations: { select: { destinationId: true }, orderBy: { position: 'asc' } } },
      resolve: references(({ destinations }) => destinations.map(({ destinationId }) => destinationId)),
    }),
  }),
});

/** The types of event of a subscription as the search shows them, in SQL. */
const SOURCES = `(SELECT string_agg(type, ', ' ORDER BY position, type) FROM event_source WHERE subscription_id = t.id)`;

export const eventSubscriptions = resource({
  kind: 'eventSubscription',
  model: 'EventSubscription',
  ...ROW,
  ref: EventSubscription,
  shows: 'id uri createdAt description metadata sources { type fields filter sampleRate uri } destinations { id uri }',
  members: {
    ...NOTED_MEMBERS,
    sources: relatedTexts('sources', 'type'),
    destinations: relatedTexts('destinations', 'destinationId'),
  },
  audit: { name: 'event_subscription', subject: 'An event subscription' },
  search: {
    ...{ rank: 180, table: 'event_subscription', title: 't.description', detail: SOURCES },
    texts: [...NOTE_COLUMNS, SOURCES],
  },
  create: {
    description: 'Creates an event subscription. From now on events of its types are delivered to its destinations.',
    note: 'Every member may be left out.',
    input: (t) => ({
      sources: t.field({ type: [EventSourceInput], description: 'The types of event to deliver, each once.' }),
      destinationIds: t.idList({ description: 'The ids of the destinations to deliver to, each once; at most 100.' }),
    }),
    write:
      (input, { accountId }) =>
      async (save, db) => {
        const { sources, destinations } = await checkAll({
          sources: () => checkSources(input.sources ?? []),
          destinations: () => checkDestinations(db, accountId, input.destinationIds ?? []),
        });
        return save({
          sources: { createMany: { data: sources } },
          destinations: { createMany: { data: destinations } },
        });
      },
  },
  update: {
    description: 'Changes an event subscription.',
    input: (t) => ({
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
    write:
      (input, { accountId }, id) =>
      async (save, db) => {
        const { sources, destinations } = await checkAll({
          sources: async () => input.sources && (await checkSources(input.sources)),
          lock: () => lockSubscription(db, { id, accountId }),
          destinations: async () =>
            input.destinationIds && (await checkDestinations(db, accountId, input.destinationIds)),
        });
        if (sources) await replaceSources(db, id, sources);
        if (destinations) await replaceDestinations(db, id, destinations);
        return save({});
      },
  },
  remove: {
    description: 'Deletes an event subscription: its events are no longer delivered. Answers with its id.',
  },
});
export const { routes } = eventSubscriptions;

type NewSource = { type: string; position: number } & Partial<Choice>;

/** @returns them with their places. @throws {ApiError} for a type that is not known, or stands twice, or cannot be chosen from so. */
async function checkSources(sources: (typeof EventSourceInput.$inferInput)[]): Promise<NewSource[]> {
  return checkEach(sources, async (source, position) => {
    const type = checkType(source.type, `sources[${position}].type`);
    if (sources.findIndex((other) => other.type === type) < position)
      throw new ApiError('eventTypeRepeated', { member: `sources[${position}].type`, type });
    return { type, position, ...(await checkChoice(type, source, `sources[${position}].`)) };
  });
}

/** @throws {ApiError} for a destination that the account does not have, or that stands twice. */
async function checkDestinations(db: Db, accountId: string, ids: string[]) {
  const max = DESTINATIONS_MAX;
  if (ids.length > max) throw new ApiError('tooManyDestinations', { member: 'destinationIds', max });
  const rows = await db.eventDestination.findMany({ where: { id: { in: ids }, accountId }, select: { id: true } });
  const known = new Set(rows.map(({ id }) => id));
  checkEach(ids, (id, index) => {
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
