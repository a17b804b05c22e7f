// Event destinations: where events are delivered (specification sections 2.5 and 4.5).

import type { Target } from '../../../events/sinks/index.ts';
import type { Db } from '../../../store/database/client.ts';
import { sealTarget, withoutSecrets } from '../../../store/events/target.ts';
import { newId } from '../../../store/ids.ts';
import type { Keys } from '../../../store/keys/keys.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { NOTED_MEMBERS, text } from '../../collections/members.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { searchByNotes } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkTexts } from '../../text-limits.ts';
import { deliveryOf, EventDelivery } from './delivery.ts';
import { checkTarget } from './target-check.ts';
import { completeTarget } from './target-secrets.ts';
import { EventTarget, EventTargetInput, targetSelection } from './target-types.ts';

const EventDestination = builder.prismaObject('EventDestination', {
  description: 'Where events are delivered, once an event subscription names it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ed_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/event_destinations/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    format: t.exposeString('format', { description: 'How events are serialized: `json`.' }),
    target: t.field({
      type: EventTarget,
      description: 'Where events are sent. Only the answer to `createEventDestination` has the secrets in it.',
      select: { target: true },
      resolve: (row) => ('shown' in row ? (row.shown as Target) : withoutSecrets(row)), // As the creation puts it there.
    }),
    delivery: t.field({
      type: EventDelivery,
      description: 'How delivery to it is going.',
      select: { id: true },
      resolve: ({ id }, _, context) => deliveryOf(context, id),
    }),
  }),
});

const eventDestinations = collection({
  kind: 'eventDestination',
  prefix: 'ed',
  path: '/event_destinations',
  single: 'eventDestination',
  plural: 'eventDestinations',
  typeName: 'EventDestination',
  ref: EventDestination,
  members: { ...NOTED_MEMBERS, format: text('format') },
  table: (db) => db.eventDestination,
  audit: { name: 'event_destination', subject: 'An event destination' },
  conflicts: { inUse: 'destinationInUse' },
  search: searchByNotes(170, 'event_destination'),
});

const CreateEventDestinationInput = builder.inputType('CreateEventDestinationInput', {
  description: 'A new event destination.',
  fields: (t) => ({
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    format: t.string({ description: 'How to serialize events: `json`, also when left out.' }),
    target: t.field({ type: EventTargetInput, description: 'Required. Where to send events.' }),
  }),
});

const UpdateEventDestinationInput = builder.inputType('UpdateEventDestinationInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    format: t.string({ description: 'How to serialize events: `json`.' }),
    target: t.field({
      type: EventTargetInput,
      description:
        'Replaces the whole target, and may be of another kind. A secret left out stays as it is while kind, ARN, site, ' +
        'URI, URL, tenant and access key or client id are the same.',
    }),
  }),
});

builder.mutationField('createEventDestination', (t) =>
  t.prismaField({
    type: EventDestination,
    nullable: true,
    access: { kind: 'eventDestination' },
    description:
      'Creates an event destination. The secrets in its `target` are shown here and never again. Nothing is sent to ' +
      'it until an event subscription names it, or `testEventDestination` is asked to.',
    args: {
      input: t.arg({ type: CreateEventDestinationInput, required: true, description: 'The event destination.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (query, _, { input }, context) => {
      const { accountId, app } = context;
      const texts = checkTexts(input);
      const format = checkFormat(input.format);
      const shown = completeTarget(checkTarget(input.target, app.config), app.keys);
      const row = { id: newId(eventDestinations.prefix), accountId, target: shown };
      const target = sealTarget(app.keys, row);
      const data = { ...texts, ...row, format, target, lane: { create: { accountId } } };
      const destination = await context.create(eventDestinations, (db) =>
        db.eventDestination.create({ ...query, data }),
      );
      return { ...destination, shown };
    },
  }),
);

builder.mutationField('updateEventDestination', (t) =>
  t.prismaField({
    type: EventDestination,
    nullable: true,
    access: { kind: 'eventDestination' },
    description:
      'Changes an event destination. When its `target` changes, what waits is tried there at once, however often it ' +
      'has failed.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the event destination.' }),
      input: t.arg({ type: UpdateEventDestinationInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const texts = checkTexts(input);
      checkFormat(input.format);
      const { accountId, app } = context;
      const given = input.target ? checkTarget(input.target, app.config) : undefined;
      return context.update(eventDestinations, id, async (db, announce) => {
        if (!given) return db.eventDestination.update({ ...query, where, data: texts });
        const target = await replaceTarget(given, app.keys, where, db);
        announce({ kind: 'eventDelivery', action: 'CREATED', id, accountId });
        return db.eventDestination.update({ ...query, where, data: { ...texts, target, lane: { update: afresh } } });
      });
    },
  }),
);

deleteMutation(eventDestinations, 'deleteEventDestination', {
  description:
    'Deletes an event destination. Answers with its id; fails with `CONFLICT` while an event subscription names it.',
});

/** A lane that is due at once. Whoever delivers to the old target right now has no say any more in how it goes on. */
const afresh = { state: 'OK', attempts: 0, nextAt: new Date(0), leaseToken: null, leaseUntil: null } as const;

/** What to store in place of the row's target. The row is locked, so that a secret that is kept is the one replaced. */
async function replaceTarget(
  target: Target,
  keys: Keys,
  where: { id: string; accountId: string },
  db: Db,
): Promise<Target> {
  const { id, accountId } = where;
  await db.$queryRaw`SELECT id FROM event_destination WHERE id = ${id} AND account_id = ${accountId} FOR NO KEY UPDATE`;
  const select = { id: true, accountId: true, target: true };
  const replaced = requireFound(await db.eventDestination.findUnique({ where, select }), 'event destination');
  return sealTarget(keys, { ...where, target: completeTarget(target, keys, replaced) });
}

function checkFormat(format: string | null | undefined): 'json' {
  if (format && format !== 'json') throw new ApiError('badFormat', { member: 'format' });
  return 'json';
}

const selection = `id uri createdAt description metadata format ${targetSelection}`;

/** The one secret that types of clients do not let be null. */
const extended = { texts: ['client_secret'] };

export const routes = [
  route('POST', '/event_destinations', 201, 'createEventDestination', selection, { extended }),
  ...readRoutes(eventDestinations, 'event_destinations', selection, extended),
  route('PATCH', '/event_destinations/:id', 200, 'updateEventDestination', selection, { extended }),
  route('DELETE', '/event_destinations/:id', 204, 'deleteEventDestination'),
];
