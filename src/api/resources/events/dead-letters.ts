// Dead letters: events that a target refused for good. They are kept for a while, to be sent again or thrown away.

import { queryFromInfo } from '@pothos/plugin-prisma';
import { discardDeadLetters, retryDeadLetters } from '../../../store/events/dead-letters.ts';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { listArguments, readList } from '../../collections/list.ts';
import { ID_MEMBER, id, type ListMembers, text, time } from '../../collections/members.ts';
import { mutation } from '../../collections/mutation.ts';
import { type Resource, registerResource, tableOf } from '../../collections/nodes.ts';
import { connectionOf } from '../../collections/page.ts';
import { requiredReference, typeOfKind } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { route } from '../../route.ts';

const pathOf = (destinationId: string) => `/event_destinations/${destinationId}/dead_letters`;

const EventDeadLetter = builder.prismaObject('EventDeadLetter', {
  description:
    'An event that the target of an event destination refused for good, or that is too large for it. The newest 10,000 ' +
    'of a destination are kept, for 14 days.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `edl_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      select: { destinationId: true },
      resolve: ({ id, destinationId }, _, context) => context.uri(`${pathOf(destinationId)}/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was refused.' }),
    destination: t.field({
      type: typeOfKind('eventDestination'),
      description: 'The event destination that it was for.',
      select: { destinationId: true },
      resolve: requiredReference(({ destinationId }) => destinationId),
    }),
    eventId: t.exposeID('eventId', { description: 'The `event_id` of the event: `ev_…`.' }),
    eventType: t.exposeString('eventType', { description: 'The type of the event.' }),
    event: t.exposeString('event', { description: 'The event as it was to be delivered, in JSON.' }),
    errorCode: t.exposeString('errorCode', { description: 'Why it was refused: the provider’s own code, `HTTP 400`.' }),
    errorMessage: t.exposeString('errorMessage', { description: 'The same for people, on one line.' }),
  }),
});

const deadLetters: Resource = {
  kind: 'eventDeadLetter',
  prefix: 'edl',
  typeName: 'EventDeadLetter',
  ref: EventDeadLetter,
  table: (db) => db.eventDeadLetter,
};
registerResource(deadLetters);

const members: ListMembers = {
  ...ID_MEMBER,
  created_at: time('createdAt', { isOrdered: false }),
  event_id: id('eventId'),
  event_type: text('eventType'),
  error_code: text('errorCode'),
  error_message: text('errorMessage'),
};

const DeadLetterCount = builder.objectRef<{ count: number }>('EventDeadLetterCount').implement({
  description: 'How many dead letters something was done with.',
  fields: (t) => ({ count: t.exposeInt('count', { description: 'How many dead letters it was done with.' }) }),
});

const ofDestination = builder.args((t) => ({
  destinationId: t.id({ required: true, description: 'The id of the event destination: `ed_…`.' }),
}));

const ofLetter = builder.args((t) => ({
  destinationId: t.id({ required: true, description: 'The id of the event destination: `ed_…`.' }),
  id: t.id({ required: true, description: 'The id of the dead letter: `edl_…`.' }),
}));

builder.queryField('eventDeadLetter', (t) =>
  t.prismaField({
    type: EventDeadLetter,
    nullable: true,
    access: { kind: 'eventDeadLetter' },
    description: 'The dead letter with this id. Fails with `NOT_FOUND` when the event destination has none.',
    args: ofLetter,
    resolve: async (query, _, { destinationId, id }, context) => {
      const where = { id: checked(id), destinationId, accountId: context.accountId };
      return requireFound(await context.db.eventDeadLetter.findFirst({ ...query, where }), NOUN);
    },
  }),
);

builder.queryField('eventDeadLetters', (t) =>
  t.field({
    type: connectionOf(EventDeadLetter, 'EventDeadLetter'),
    nullable: true,
    access: { kind: 'eventDeadLetter' },
    description:
      'The events that an event destination refused for good, the newest first unless you ask for another order.',
    args: { ...ofDestination, ...listArguments('EventDeadLetter', members) },
    resolve: async (_, { destinationId, ...args }, context, info) => {
      await checkDestination(context, destinationId);
      const paths = [['nodes'], ['edges', 'node']];
      const query = queryFromInfo({ context, info, typeName: 'EventDeadLetter', paths });
      const table = tableOf(deadLetters, context.db);
      const scope = { destinationId, accountId: context.accountId };
      return readList({ prefix: 'edl', path: pathOf(destinationId), members, table, scope }, args, context, query);
    },
  }),
);

/** Of the payloads: the event destination that the letters were for. */
const OF_DESTINATION = {
  eventDestination: {
    kind: 'eventDestination',
    id: ({ destinationId }: Record<string, unknown>) => String(destinationId),
  },
};

mutation(
  'retryEventDeadLetter',
  {
    gives: ['retriedEventDeadLetterId', 'The id that the dead letter had.'],
    objects: OF_DESTINATION,
  },
  (t) =>
    t.id({
      nullable: true,
      access: { kind: 'eventDeadLetter' },
      description:
        'Sends a dead letter once more, after all that waits now. It is a dead letter no longer; if it is refused again, it ' +
        'becomes another one. Answers with the id that it had.',
      args: { ...ofLetter, ...idempotencyKeyArgument },
      resolve: async (_, { destinationId, id }, context) => {
        const ids = [checked(id)];
        if ((await move(context, 'DEAD_LETTERS_RETRIED', destinationId, ids)) === 0)
          throw new ApiError('notFound', { kind: NOUN });
        return id;
      },
    }),
);

mutation(
  'discardEventDeadLetter',
  {
    gives: ['discardedEventDeadLetterId', 'The id that the dead letter had.'],
    objects: OF_DESTINATION,
  },
  (t) =>
    t.id({
      nullable: true,
      access: { kind: 'eventDeadLetter' },
      description: 'Throws a dead letter away. Answers with its id.',
      args: ofLetter,
      resolve: async (_, { destinationId, id }, context) => {
        const ids = [checked(id)];
        if ((await move(context, 'DEAD_LETTERS_DISCARDED', destinationId, ids)) === 0)
          throw new ApiError('notFound', { kind: NOUN });
        return id;
      },
    }),
);

mutation(
  'retryEventDeadLetters',
  {
    gives: ['retried', 'How many there were.'],
    objects: OF_DESTINATION,
  },
  (t) =>
    t.field({
      type: DeadLetterCount,
      nullable: true,
      access: { kind: 'eventDeadLetter' },
      description:
        'Sends all dead letters of an event destination once more, the oldest first, after all that waits now. Answers ' +
        'with how many there were.',
      args: { ...ofDestination, ...idempotencyKeyArgument },
      resolve: async (_, { destinationId }, context) => ({
        count: await move(context, 'DEAD_LETTERS_RETRIED', destinationId),
      }),
    }),
);

mutation(
  'discardEventDeadLetters',
  {
    gives: ['discarded', 'How many there were.'],
    objects: OF_DESTINATION,
  },
  (t) =>
    t.field({
      type: DeadLetterCount,
      nullable: true,
      access: { kind: 'eventDeadLetter' },
      description: 'Throws all dead letters of an event destination away. Answers with how many there were.',
      args: ofDestination,
      resolve: async (_, { destinationId }, context) => ({
        count: await move(context, 'DEAD_LETTERS_DISCARDED', destinationId),
      }),
    }),
);

const NOUN = 'dead letter';

/** @throws {ApiError} for what cannot be the id of a dead letter. */
function checked(id: string): string {
  if (!isId('edl', id)) throw new ApiError('notFound', { kind: NOUN });
  return id;
}

/** @returns what people call it. @throws {ApiError} when the account has no such destination. */
async function checkDestination(context: Pick<Context, 'db' | 'accountId'>, id: string): Promise<string> {
  const where = { id, accountId: context.accountId };
  const select = { description: true };
  return requireFound(await context.db.eventDestination.findUnique({ where, select }), 'event destination').description;
}

const moves = { DEAD_LETTERS_RETRIED: retryDeadLetters, DEAD_LETTERS_DISCARDED: discardDeadLetters };

/** Does something with dead letters of a destination, with all of them where no ids are given. @returns how many there were. */
async function move(
  context: Context,
  action: keyof typeof moves,
  destinationId: string,
  ids?: string[],
): Promise<number> {
  return context.act(async (db, announce) => {
    const objectName = await checkDestination({ db, accountId: context.accountId }, destinationId);
    const count = await moves[action](db, announce, { destinationId, ids });
    const act = { action, kind: 'eventDestination', objectId: destinationId, objectName, after: { count, ids } };
    return { result: count, acts: count > 0 ? [act] : [] };
  });
}

const selection = 'id uri createdAt eventId eventType event errorCode errorMessage';
const list = '/event_destinations/:destination_id/dead_letters';

// `retry` stands before `:id`, which would take it for one.
export const routes = [
  route('GET', list, 200, 'eventDeadLetters', `dead_letters: nodes { ${selection} } uri nextPageUri`),
  route('DELETE', list, 200, 'discardEventDeadLetters', 'count'),
  route('POST', `${list}/retry`, 200, 'retryEventDeadLetters', 'count'),
  route('GET', `${list}/:id`, 200, 'eventDeadLetter', selection),
  route('DELETE', `${list}/:id`, 204, 'discardEventDeadLetter'),
  route('POST', `${list}/:id/retry`, 204, 'retryEventDeadLetter'),
];
