// How delivery to an event destination is going: read, watched, and tried out.

import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { openTargetIfReadable } from '../../../store/events/target.ts';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import { whileAllowed } from '../../collections/watching.ts';
import type { Context } from '../../context.ts';
import type { DestinationTestResult } from '../../dependencies.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { route } from '../../route.ts';
import { deliveryOf, deliverySelection, EventDelivery } from './delivery.ts';
import { watchDelivery } from './delivery-changes.ts';

/** How many trials an account may make a minute: each is a request to somebody else's server. */
const TESTS_PER_MINUTE_MAX = 10;
const MINUTE_SECONDS = 60;

const limiter = new RateLimiterMemory({ points: TESTS_PER_MINUTE_MAX, duration: MINUTE_SECONDS });

const EventDestinationTest = builder.objectRef<DestinationTestResult>('EventDestinationTest').implement({
  description: 'What became of an event that was sent to try an event destination.',
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Whether the target took it.' }),
    eventId: t.exposeID('eventId', { description: 'The `event_id` that it had: `ev_…`.' }),
    latencyMs: t.exposeFloat('latencyMs', { description: 'How long it took; milliseconds.' }),
    errorCode: t.exposeString('code', {
      nullable: true,
      description: 'Why it was not taken: the provider’s own code, `HTTP 403`, `ECONNREFUSED`. Null when it was.',
    }),
    errorMessage: t.exposeString('message', {
      nullable: true,
      description: 'The same for people, on one line. Null when it was taken.',
    }),
  }),
});

const byId = builder.args((t) => ({
  id: t.id({ required: true, description: 'The id of the event destination: `ed_…`.' }),
}));

builder.queryField('eventDestinationDelivery', (t) =>
  t.field({
    type: EventDelivery,
    nullable: true,
    access: { kind: 'eventDestination' },
    description:
      'How delivery to an event destination is going. Fails with `NOT_FOUND` when your account has no such destination.',
    args: byId,
    resolve: (_, { id }, context) => findDelivery(context, id),
  }),
);

mutation(
  'testEventDestination',
  { gives: ['test', 'What became of it.'], objects: { eventDestination: { kind: 'eventDestination' } } },
  (t) =>
    t.field({
      type: EventDestinationTest,
      nullable: true,
      access: { kind: 'eventDestination' },
      callsExternalService: true,
      description:
        'Sends one event of type `event_destination_test.v0` to an event destination, the way that all events go but ahead ' +
        'of those that wait, and answers with what became of it. At most ten times a minute.',
      args: { ...byId, ...idempotencyKeyArgument },
      resolve: (_, { id }, context) => testDestination(context, requireDestinationId(id)),
    }),
);

builder.subscriptionField('eventDeliveryChanged', (t) =>
  t.field({
    type: EventDelivery,
    access: { kind: null },
    description:
      'Tells how delivery to an event destination is going: at once, and each time it changes, at most twice a second. ' +
      'Ends when the destination is deleted.',
    args: {
      destinationId: t.arg.id({ required: true, description: 'The id of the event destination: `ed_…`.' }),
    },
    subscribe: async (_, { destinationId: id }, context) => {
      await findDelivery(context, id);
      const { app, accountId } = context;
      return whileAllowed(context, (signal) => watchDelivery(app.changes, { id, accountId }, signal));
    },
    resolve: ({ id }, _, context) => findDelivery(context, id),
  }),
);

const findDelivery = async (context: Context, id: string) => deliveryOf(context, requireDestinationId(id));

/** @throws {ApiError} for what cannot be the id of a destination. */
function requireDestinationId(id: string): string {
  if (!isId('ed', id)) throw new ApiError('notFound', { kind: 'event destination' });
  return id;
}

/** @throws {ApiError} when there is no such destination, or the account has tried too often. */
async function testDestination(context: Context, id: string): Promise<DestinationTestResult> {
  const { app, accountId } = context;
  const where = { id, accountId };
  const row = requireFound(await context.db.eventDestination.findUnique({ where }), 'event destination');
  await limiter.consume(accountId).catch(({ msBeforeNext }: RateLimiterRes) => {
    throw new ApiError('tooManyTrials', { limit: TESTS_PER_MINUTE_MAX, seconds: Math.ceil(msBeforeNext / 1000) });
  });
  const of = { destinationId: id, accountId };
  const result = await app.destinationTester.testDestination(openTargetIfReadable(app.keys, row), of);
  const after = { outcome: result.ok ? 'ok' : result.code };
  await context.record({ action: 'TESTED', kind: 'eventDestination', objectId: id, after });
  return result;
}

export const routes = [
  route('GET', '/event_destinations/:id/delivery', 200, 'eventDestinationDelivery', deliverySelection),
  route(
    'POST',
    '/event_destinations/:id/test',
    200,
    'testEventDestination',
    'ok eventId latencyMs errorCode errorMessage',
  ),
];
