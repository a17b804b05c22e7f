// Event destinations: where events are delivered (specification sections 2.5 and 4.5).

import type { Target } from '../../../events/sinks/index.ts';
import type { Db } from '../../../store/database/client.ts';
import { sealTarget, withoutSecrets } from '../../../store/events/target.ts';
import type { Keys } from '../../../store/keys/keys.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { NOTED_MEMBERS, text } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { joined, named, related } from '../../collections/related.ts';
import { resource } from '../../collections/resource.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import { searchByNotes } from '../../resource.ts';
import { deliveryOf, EventDelivery } from './delivery.ts';
import { checkTarget } from './target-check.ts';
import { completeTarget } from './target-secrets.ts';
import { EventTarget, EventTargetInput, targetSelection } from './target-types.ts';

const ROW = { prefix: 'ed', path: '/event_destinations' };

const EventDestination = builder.prismaObject('EventDestination', {
  description: 'Where events are delivered, once an event subscription names it.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, ROW),
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
    subscriptions: related(t, {
      ...{ kind: 'eventSubscription', member: 'destinations' },
      on: joined('subscription_destination', 'destination_id', 'subscription_id'),
      description: 'The event subscriptions that name it.',
    }),
    deadLetters: related(t, {
      ...{ kind: 'eventDeadLetter', table: 'event_dead_letter', on: named('destination_id') },
      path: (id) => `${ROW.path}/${id}/dead_letters`,
      description: 'The events that its target refused for good. `eventDeadLetters` filters, searches and orders them.',
    }),
  }),
});

export const { routes } = resource({
  kind: 'eventDestination',
  model: 'EventDestination',
  ...ROW,
  ref: EventDestination,
  shows: `id uri createdAt description metadata format ${targetSelection}`,
  // The one secret that types of clients do not let be null.
  extended: { texts: ['client_secret'] },
  members: { ...NOTED_MEMBERS, format: text('format') },
  audit: { name: 'event_destination', subject: 'An event destination' },
  conflicts: { inUse: 'destinationInUse' },
  search: searchByNotes(170, 'event_destination'),
  create: {
    description:
      'Creates an event destination. The secrets in its `target` are shown here and never again. Nothing is sent to ' +
      'it until an event subscription names it, or `testEventDestination` is asked to.',
    input: (t) => ({
      format: t.string({ description: 'How to serialize events: `json`, also when left out.' }),
      target: t.field({ type: EventTargetInput, description: 'Required. Where to send events.' }),
    }),
    write(input, { accountId, app }, id) {
      const { format, shown } = checkAll({
        format: () => checkFormat(input.format),
        shown: () => completeTarget(checkTarget(input.target, app.config), app.keys),
      });
      const target = sealTarget(app.keys, { id, accountId, target: shown });
      return async (save) => ({ ...(await save({ format, target, lane: { create: { accountId } } })), shown });
    },
  },
  update: {
    description:
      'Changes an event destination. When its `target` changes, what waits is tried there at once, however often it ' +
      'has failed.',
    input: (t) => ({
      format: t.string({ description: 'How to serialize events: `json`.' }),
      target: t.field({
        type: EventTargetInput,
        description:
          'Replaces the whole target, and may be of another kind. A secret left out stays as it is while kind, ARN, site, ' +
          'URI, URL, tenant and access key or client id are the same.',
      }),
    }),
    write(input, { accountId, app }, id) {
      const { target: given } = checkAll({
        format: () => checkFormat(input.format),
        target: () => input.target && checkTarget(input.target, app.config),
      });
      if (!given) return {};
      return async (save, db, announce) => {
        const target = await replaceTarget(given, app.keys, { id, accountId }, db);
        announce({ kind: 'eventDelivery', action: 'CREATED', id, accountId });
        return save({ target, lane: { update: afresh } });
      };
    },
  },
  remove: {
    description:
      'Deletes an event destination. Answers with its id; fails with `CONFLICT` while an event subscription names it.',
  },
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
