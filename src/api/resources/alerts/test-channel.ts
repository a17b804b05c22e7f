// Trying alert channels.

import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { openSigningSecret } from '../../../store/alerts/channel-secrets.ts';
import { findSubscriptions } from '../../../store/events/outbox.ts';
import type { AlertChannelModel } from '../../../store/generated/prisma/models.ts';
import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import type { Context } from '../../context.ts';
import type { ChannelTestResult } from '../../dependencies.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import type { Route } from '../../route.ts';
import { unconfirmed } from './channel-type.ts';

/** How many trials an account may make a minute: each is a request to somebody else's server. */
const TESTS_PER_MINUTE_MAX = 10;
const MINUTE_SECONDS = 60;

const limiter = new RateLimiterMemory({ points: TESTS_PER_MINUTE_MAX, duration: MINUTE_SECONDS });

const AlertChannelTest = builder.objectRef<ChannelTestResult>('AlertChannelTest').implement({
  description: 'What became of a notification that was sent to try an alert channel.',
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Whether it was taken.' }),
    notificationId: t.exposeID('notificationId', { description: 'The id that it had: `aln_…`.' }),
    latencyMs: t.exposeFloat('latencyMs', { description: 'How long it took; milliseconds.' }),
    errorCode: t.exposeString('code', {
      nullable: true,
      description: 'Why it was not taken: `HTTP 403`, `SMTP 550`, `ECONNREFUSED`. Null when it was.',
    }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'The same for people, on one line; or what is to be said although it was taken. Mostly null then.',
    }),
  }),
});

mutation(
  'testAlertChannel',
  { gives: ['test', 'What became of it.'], objects: { alertChannel: { kind: 'alertChannel' } } },
  (t) =>
    t.field({
      type: AlertChannelTest,
      nullable: true,
      access: { kind: 'alertChannel', adminsOnly: 'adminsOnly' },
      callsExternalService: true,
      description:
        'Sends one notification of type `alert_test` to an alert channel, the way that all go, and answers with what became ' +
        'of it. Recipients of e-mail who have not agreed to get alerts are sent the link again. Of a channel that writes events, it says whether an event subscription has them, and writes none. At most ' +
        'ten times a minute.',
      args: {
        id: t.arg.id({ required: true, description: 'The id of the alert channel.' }),
        ...idempotencyKeyArgument,
      },
      resolve: async (_, { id }, context) => {
        const { accountId, app } = context;
        const row = requireFound(
          await context.db.alertChannel.findUnique({ where: { id, accountId } }),
          'alert channel',
        );
        await limiter.consume(accountId).catch(({ msBeforeNext }: RateLimiterRes) => {
          throw new ApiError('tooManyChannelTests', {
            limit: TESTS_PER_MINUTE_MAX,
            seconds: Math.ceil(msBeforeNext / 1000),
          });
        });
        if (row.kind === 'EVENTS') return subscriptionsOf(context);
        app.alertTester.inviteRecipients(row, unconfirmed(row));
        const result = await app.alertTester.testChannel(openChannel(context, row), { accountId, name: row.name });
        const after = { outcome: result.ok ? 'ok' : result.code };
        await context.record({ action: 'TESTED', kind: 'alertChannel', objectId: id, objectName: row.name, after });
        return result;
      },
    }),
);

function openChannel({ app }: Context, row: AlertChannelModel) {
  const { kind, url, recipients, confirmedRecipients } = row;
  if (kind === 'EMAIL')
    return { kind, recipients: recipients.filter((address) => confirmedRecipients.includes(address)) };
  return { kind: 'WEBHOOK' as const, url, signingSecret: openSigningSecret(app.keys, row) };
}

async function subscriptionsOf({ db, accountId }: Context): Promise<ChannelTestResult> {
  const type = 'alert_fired.v0';
  const subscriptions = await findSubscriptions(db, [accountId], [type]);
  const { length } = subscriptions.destinationsOf({ accountId, type });
  const result = { notificationId: '', latencyMs: 0 };
  if (length > 0) return { ...result, ok: true, code: null, message: null };
  return { ...result, ok: false, code: 'NO_SUBSCRIPTION', message: `no event subscription has ${type}` };
}

/** There is no REST path for them. */
export const routes: Route[] = [];
