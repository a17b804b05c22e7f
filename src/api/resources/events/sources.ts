// Event sources: the types of event that a subscription delivers, one by one. A source has no id: its type names it
// within the subscription, and its changes are changes of the subscription.

import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { route } from '../../route.ts';
import { isEventName } from './catalog.ts';
import {
  checkChoice,
  checkType,
  EventSource,
  EventSourceInput,
  inOrder,
  lockSubscription,
  type Source,
  type SourceKey,
  sourceColumns,
  UpdateEventSourceInput,
} from './source.ts';
import { eventSubscriptions } from './subscriptions.ts';

interface List {
  subscriptionId: string;
  sources: Source[];
}

const EventSourceList = builder.objectRef<List>('EventSourceList').implement({
  description: 'The sources of an event subscription.',
  fields: (t) => ({
    sources: t.expose('sources', { type: [EventSource], description: 'All of them, in the order they were given.' }),
    uri: t.string({
      description: 'The URI of the list as a REST resource.',
      resolve: ({ subscriptionId }, _, context) => context.uri(`/event_subscriptions/${subscriptionId}/sources`),
    }),
  }),
});

const ofSubscription = builder.args((t) => ({
  subscriptionId: t.id({ required: true, description: 'The id of the event subscription.' }),
}));

const ofSource = builder.args((t) => ({
  subscriptionId: t.id({ required: true, description: 'The id of the event subscription.' }),
  type: t.string({ required: true, description: 'The type of event.' }),
}));

builder.queryField('eventSource', (t) =>
  t.field({
    type: EventSource,
    nullable: true,
    access: { kind: 'eventSubscription' },
    description: 'The source of this type. Fails with `NOT_FOUND` when the subscription has none.',
    args: ofSource,
    resolve: (_, where, context) => look(context, where),
  }),
);

builder.queryField('eventSources', (t) =>
  t.field({
    type: EventSourceList,
    nullable: true,
    access: { kind: 'eventSubscription' },
    description: 'The sources of an event subscription, all on one page.',
    args: ofSubscription,
    resolve: async (_, { subscriptionId }, context) => ({
      subscriptionId,
      sources: inOrder(await readSources(context, subscriptionId)),
    }),
  }),
);

/** Of the payloads: the event subscription that the source is of. */
const OF_SUBSCRIPTION = {
  eventSubscription: {
    kind: 'eventSubscription',
    id: ({ subscriptionId }: Record<string, unknown>) => String(subscriptionId),
  },
};

mutation(
  'createEventSource',
  {
    gives: ['eventSource', 'The new source.'],
    objects: OF_SUBSCRIPTION,
  },
  (t) =>
    t.field({
      type: EventSource,
      nullable: true,
      access: { kind: 'eventSubscription' },
      description: 'Has an event subscription deliver one more type of event, which is its last source.',
      args: {
        ...ofSubscription,
        input: t.arg({ type: EventSourceInput, required: true, description: 'The source.' }),
        ...idempotencyKeyArgument,
      },
      resolve: async (_, { subscriptionId, input }, context) => {
        const key = { subscriptionId, type: checkType(input.type, 'type') };
        const data = { ...key, ...(await checkChoice(key.type, input)) };
        return context.update(eventSubscriptions, subscriptionId, async (db) => {
          await lockSubscription(db, { id: subscriptionId, accountId: context.accountId });
          const there = await db.eventSource.findUnique({ where: { subscriptionId_type: key } });
          if (there) throw new ApiError('sourceThere');
          const { _max } = await db.eventSource.aggregate({ where: { subscriptionId }, _max: { position: true } });
          const position = (_max.position ?? -1) + 1;
          return { id: subscriptionId, ...(await db.eventSource.create({ data: { ...data, position } })) };
        });
      },
    }),
);

mutation(
  'updateEventSource',
  {
    gives: ['eventSource', 'The source as it is now.'],
    objects: OF_SUBSCRIPTION,
  },
  (t) =>
    t.field({
      type: EventSource,
      nullable: true,
      access: { kind: 'eventSubscription' },
      description: 'Changes which events of its type an event subscription delivers, and what of them.',
      args: {
        ...ofSource,
        input: t.arg({ type: UpdateEventSourceInput, required: true, description: 'What to change.' }),
      },
      resolve: async (_, { subscriptionId, type, input }, context) => {
        if (input.type != null && input.type !== type) {
          const error = new ApiError('wrongValue', {
            member: 'type',
            reason: 'a source keeps its type; create another',
          });
          error.inputPath = ['input', 'type']; // An argument has the same name.
          throw error;
        }
        const key = { subscriptionId, type };
        const data = isEventName(type) ? await checkChoice(type, input) : {};
        return context.update(eventSubscriptions, subscriptionId, async (db) => {
          await lockSubscription(db, { id: subscriptionId, accountId: context.accountId });
          const there = await db.eventSource.findUnique({ where: { subscriptionId_type: key } });
          if (!there) throw new ApiError('sourceNotThere');
          const source = await db.eventSource.update({ where: { subscriptionId_type: key }, data });
          return { id: subscriptionId, ...source };
        });
      },
    }),
);

mutation(
  'deleteEventSource',
  {
    gives: ['deletedType', 'The type of event that is delivered no longer.'],
    objects: OF_SUBSCRIPTION,
  },
  (t) =>
    t.string({
      nullable: true,
      access: { kind: 'eventSubscription' },
      description: 'Has an event subscription no longer deliver a type of event. Answers with the type.',
      args: ofSource,
      resolve: async (_, where, context) => {
        const { subscriptionId, type } = where;
        await context.update(eventSubscriptions, subscriptionId, async (db) => {
          await lockSubscription(db, { id: subscriptionId, accountId: context.accountId });
          const { count } = await db.eventSource.deleteMany({ where: { subscriptionId, type } });
          if (count === 0) throw new ApiError('sourceNotThere');
          return { id: subscriptionId };
        });
        return type;
      },
    }),
);

async function look(context: Context, { subscriptionId, type }: SourceKey): Promise<Source> {
  const [source] = await readSources(context, subscriptionId, { type });
  if (!source) throw new ApiError('sourceNotThere');
  return source;
}

async function readSources({ db, accountId }: Context, id: string, where?: { type: string }): Promise<Source[]> {
  const select = { sources: { where, select: sourceColumns } };
  return requireFound(await db.eventSubscription.findUnique({ where: { id, accountId }, select }), 'event subscription')
    .sources;
}

const selection = 'type fields filter sampleRate uri';
const list = '/event_subscriptions/:subscription_id/sources';

export const routes = [
  route('POST', list, 201, 'createEventSource', selection),
  route('GET', list, 200, 'eventSources', `sources { ${selection} } uri`),
  route('GET', `${list}/:type`, 200, 'eventSource', selection),
  route('PATCH', `${list}/:type`, 200, 'updateEventSource', selection),
  route('DELETE', `${list}/:type`, 204, 'deleteEventSource'),
];
