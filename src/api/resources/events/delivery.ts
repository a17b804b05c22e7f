// How delivery to event destinations is going, as the API shows it.

import { deliveryStates, type DestinationDelivery as StoredState } from '../../../store/events/delivery-state.ts';
import { builder } from '../../builder/builder.ts';
import { requiredReference, typeOfKind } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import { requireFound } from '../../errors/errors.ts';
import { inLowerCase } from '../../rest-words.ts';

export interface DeliveryState extends StoredState {
  destinationId: string;
}

const DeliveryStateType = builder.enumType('EventDeliveryState', {
  description: 'How delivery to an event destination stands.',
  extensions: inLowerCase(),
  values: {
    OK: { description: 'What was sent last was taken, or nothing was sent yet.' },
    RETRYING: { description: 'The last attempt failed in a way that may pass; it is tried again.' },
    FAILING: {
      description:
        'It fails until somebody changes the destination or its target: credentials, rights, or a stream that is not ' +
        'there. It is still tried now and then.',
    },
  } as const,
});

const DeliveryError = builder.objectRef<NonNullable<DeliveryState['lastError']>>('EventDeliveryError').implement({
  description: 'Why delivery to an event destination failed.',
  fields: (t) => ({
    code: t.exposeString('code', {
      description: 'The provider’s own code, as `ThrottlingException`, `HTTP 503`, or `ECONNRESET` of the network.',
    }),
    message: t.exposeString('message', { description: 'What it means, for people; one line.' }),
    at: t.expose('at', { type: 'Timestamp', description: 'When it failed.' }),
  }),
});

export const EventDelivery = builder.objectRef<DeliveryState>('EventDelivery').implement({
  description:
    'How delivery to an event destination is going. Events are delivered in order and at least once: one that comes ' +
    'twice has the same id.',
  fields: (t) => ({
    destinationId: t.exposeID('destinationId', { description: 'The id of the event destination.' }),
    destination: t.field({
      type: typeOfKind('eventDestination'),
      description: 'The event destination.',
      resolve: requiredReference(({ destinationId }) => destinationId),
    }),
    state: t.expose('state', { type: DeliveryStateType, description: 'How it stands.' }),
    waitingEvents: t.exposeFloat('waitingEvents', { description: 'How many events wait to be delivered.' }),
    waitingBytes: t.exposeFloat('waitingBytes', { description: 'How many bytes they take in the database.' }),
    oldestWaitingAt: t.expose('oldestWaitingAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'Since when the oldest of them waits; null when none does.',
    }),
    deliveredEvents: t.float({
      description: 'How many events were delivered since the destination was created.',
      resolve: ({ delivered }) => delivered,
    }),
    droppedEvents: t.float({
      description:
        'How many events were given up because too many waited, or for too long. They are lost. What the target refuses ' +
        'is not among them: that is kept as dead letters.',
      resolve: ({ dropped }) => dropped,
    }),
    deadLetters: t.exposeFloat('deadLetters', {
      description: 'How many events the target refused for good; `eventDeadLetters` shows them.',
    }),
    attempts: t.exposeInt('attempts', { description: 'How often delivery has failed since the last success.' }),
    nextAttemptAt: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When it is tried again; null while it does not fail.',
      resolve: ({ state, nextAt }) => (state === 'OK' ? null : nextAt),
    }),
    lastDeliveredAt: t.expose('lastDeliveredAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When events were last delivered; null when none were yet.',
    }),
    lastError: t.expose('lastError', {
      type: DeliveryError,
      nullable: true,
      description: 'What failed last, also when it has worked since; null when nothing has.',
    }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ destinationId }, _, context) => context.uri(`/event_destinations/${destinationId}/delivery`),
    }),
  }),
});

/** What a REST answer shows of it. */
export const deliverySelection =
  'destinationId state waitingEvents waitingBytes oldestWaitingAt deliveredEvents droppedEvents deadLetters attempts ' +
  'nextAttemptAt lastDeliveredAt lastError { code message at } uri';

interface Load {
  ids: Set<string>;
  states: Promise<Map<string, StoredState>>;
}

const underWay = new WeakMap<Context, Load>();

/**
 * How delivery to a destination of the caller's account is going. The rows of a page all ask at the same moment: they
 * are answered together.
 * @throws {ApiError} when the account has no such destination.
 */
export async function deliveryOf(context: Context, destinationId: string): Promise<DeliveryState> {
  const load = underWay.get(context) ?? begin(context);
  load.ids.add(destinationId);
  return { destinationId, ...requireFound((await load.states).get(destinationId), 'event destination') };
}

function begin(context: Context): Load {
  const ids = new Set<string>();
  const states = new Promise<void>((resolve) => process.nextTick(resolve)).then(() => {
    underWay.delete(context);
    return deliveryStates(context.db, context.accountId, [...ids]);
  });
  const load = { ids, states };
  underWay.set(context, load);
  return load;
}
