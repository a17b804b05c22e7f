// Alert channels as the API shows them.

import { NO_SMTP } from '../../../alerts/channels/email.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { joined, related } from '../../collections/related.ts';

export const AlertChannelKindType = builder.enumType('AlertChannelKind', {
  description: 'How an alert channel tells of alerts.',
  values: {
    WEBHOOK: { description: 'By a signed POST to an HTTP server of your own.' },
    EMAIL: { description: 'By e-mail, through the mail server of the gateway’s operator.' },
    EVENTS: {
      description: 'By `alert_fired.v0` and `alert_resolved.v0` events, for the event subscriptions that have them.',
    },
  } as const,
});

/** Recipients who are sent nothing but a link, as they have not agreed to more. */
export function unconfirmed({
  recipients,
  confirmedRecipients,
}: Record<'recipients' | 'confirmedRecipients', string[]>) {
  return recipients.filter((address) => !confirmedRecipients.includes(address));
}

export const AlertChannel = builder.prismaObject('AlertChannel', {
  description: 'Where alerts are told, once an alert rule names it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `alc_…`.' }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    kind: t.expose('kind', { type: AlertChannelKindType, description: 'How it tells of alerts.' }),
    url: t.exposeString('url', { description: 'Of a webhook: where notifications are POSTed; "" of others.' }),
    recipients: t.exposeStringList('recipients', { description: 'Of e-mail: the addresses of the recipients.' }),
    unconfirmedRecipients: t.stringList({
      description:
        'Those of the recipients who have not agreed yet to get alerts, by the link that was sent to them. They are sent none. ' +
        '`testAlertChannel` sends the link once more, an hour after the last one.',
      select: { recipients: true, confirmedRecipients: true },
      resolve: unconfirmed,
    }),
    problem: t.string({
      nullable: true,
      description: 'Why nothing can be sent, or not to all; null when nothing is in the way.',
      select: { kind: true, recipients: true, confirmedRecipients: true },
      resolve: (row, _, { app }) => {
        if (row.kind !== 'EMAIL') return null;
        if (!app.config.smtp) return NO_SMTP.message;
        const missing = unconfirmed(row);
        return missing.length === 0
          ? null
          : `these recipients have not agreed yet to get alerts: ${missing.join(', ')}`;
      },
    }),
    rules: related(t, {
      ...{ kind: 'alertRule', on: joined('alert_rule_channel', 'channel_id', 'rule_id'), member: 'channels' },
      description: 'The alert rules that name it.',
    }),
    lastSentAt: t.expose('lastSentAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When a notification was last taken; null when none was yet.',
    }),
    lastError: t.string({
      nullable: true,
      description: 'Why the last attempt failed, on one line; null when it did not.',
      select: { lastError: true },
      resolve: ({ lastError }) => lastError || null,
    }),
    lastErrorAt: t.expose('lastErrorAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When an attempt last failed; null when none did yet.',
    }),
  }),
});
