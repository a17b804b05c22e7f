// Alert channels: where alerts are told.

import { newId } from '../../../store/ids.ts';
import { showOnce } from '../../builder/payloads.ts';
import { collection, deleteMutation } from '../../collections/collection.ts';
import { asStored, choice, ID_MEMBER, text, texts, time } from '../../collections/members.ts';
import { givesNew, givesObject, mutation } from '../../collections/mutation.ts';
import { requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import type { Route } from '../../route.ts';
import {
  CreateAlertChannelInput,
  checkChannel,
  newSigningSecret,
  requireMembers,
  sealed,
  UpdateAlertChannelInput,
} from './channel-input.ts';
import { AlertChannel, AlertChannelKindType } from './channel-type.ts';
import { checkRoom } from './input-checks.ts';

const CHANNELS_MAX = 100;

const alertChannels = collection({
  kind: 'alertChannel',
  prefix: 'alc',
  path: '/alert_channels',
  single: 'alertChannel',
  plural: 'alertChannels',
  typeName: 'AlertChannel',
  ref: AlertChannel,
  members: {
    ...ID_MEMBER,
    created_at: time('createdAt', { isOrdered: false }),
    name: text('name'),
    kind: choice('kind', AlertChannelKindType, asStored('WEBHOOK', 'EMAIL', 'EVENTS')),
    recipients: texts('recipients'),
  },
  table: (db) => db.alertChannel,
  audit: {
    ...{ name: 'alert_channel', subject: 'An alert channel' },
    selection: 'id createdAt name kind url recipients',
  },
  conflicts: { inUse: 'alertChannelInUse' },
  search: {
    ...{ rank: 191, table: 'alert_channel', title: 't.name', detail: 'lower(t.kind::text)' },
    texts: ['t.name'],
  },
});

const SIGNING_SECRET = {
  secrets: {
    signingSecret:
      'Of a webhook: what requests are signed with (Standard Webhooks), where this has set it. Nobody can read it afterwards.',
  },
  secretsMayBeNull: true,
};

mutation('createAlertChannel', { ...givesNew('alertChannel', 'AlertChannel'), ...SIGNING_SECRET }, (t) =>
  t.prismaField({
    type: AlertChannel,
    nullable: true,
    access: { kind: 'alertChannel', adminsOnly: 'adminsOnly' },
    description:
      `Creates an alert channel, of which an account may have ${CHANNELS_MAX}. The signing secret of a webhook is shown ` +
      'here and never again. Nothing is sent to it until an alert rule names it, or `testAlertChannel` is asked to. Each recipient of ' +
      'e-mail is sent a link at once, and alerts only after agreeing there.',
    args: {
      input: t.arg({ type: CreateAlertChannelInput, required: true, description: 'The alert channel.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (query, _, { input }, context) => {
      const { accountId, app } = context;
      const { kind } = input;
      const { secret: given, name = input.name, ...columns } = checkChannel(input, kind, app.config);
      requireMembers(columns, kind);
      const secret = kind === 'WEBHOOK' ? (given ?? newSigningSecret()) : undefined;
      const row = { id: newId(alertChannels.prefix), accountId };
      const data = { ...row, ...columns, name, kind, ...sealed(app.keys, row, secret) };
      const channel = await context.create(alertChannels, async (db) => {
        const count = () => db.alertChannel.count({ where: { accountId } });
        await checkRoom(db, accountId, { kind: 'alert channels', max: CHANNELS_MAX, count });
        return db.alertChannel.create({ ...query, data });
      });
      if (columns.recipients) app.alertTester.inviteRecipients(row, columns.recipients);
      return secret === undefined ? channel : showOnce(channel, { signingSecret: secret });
    },
  }),
);

mutation('updateAlertChannel', { ...givesObject('alertChannel'), ...SIGNING_SECRET }, (t) =>
  t.prismaField({
    type: AlertChannel,
    nullable: true,
    access: { kind: 'alertChannel', adminsOnly: 'adminsOnly' },
    description:
      'Changes an alert channel. A signing secret that this sets is shown here and never again. What waits for the ' +
      'channel is sent to where it leads now.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the alert channel.' }),
      input: t.arg({ type: UpdateAlertChannelInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _, { id, input }, context) => {
      const { accountId, app } = context;
      const where = { id, accountId };
      let secret: string | undefined;
      let invited: string[] = [];
      const channel = await context.update(alertChannels, id, async (db) => {
        const select = { kind: true, url: true, confirmedRecipients: true } as const;
        const row = requireFound(await db.alertChannel.findUnique({ where, select }), 'alert channel');
        const { secret: given, ...data } = checkChannel(input, row.kind, app.config);
        // Whoever gets the notifications from now on must not be able to sign as those before could check.
        secret = given ?? (data.url !== undefined && data.url !== row.url ? newSigningSecret() : undefined);
        const confirmed = row.confirmedRecipients.filter((address) => data.recipients?.includes(address));
        invited = data.recipients?.filter((address) => !confirmed.includes(address)) ?? [];
        const confirmedRecipients = data.recipients ? confirmed : undefined;
        return db.alertChannel.update({
          ...query,
          where,
          data: { ...data, confirmedRecipients, ...sealed(app.keys, where, secret) },
        });
      });
      app.alertTester.inviteRecipients(where, invited);
      return secret === undefined ? channel : showOnce(channel, { signingSecret: secret });
    },
  }),
);

deleteMutation(alertChannels, 'deleteAlertChannel', {
  description:
    'Deletes an alert channel, and what waits for it. Answers with its id; fails with `CONFLICT` while an alert rule names it.',
  adminsOnly: 'adminsOnly',
});

/** There is no REST path for them. */
export const routes: Route[] = [];
