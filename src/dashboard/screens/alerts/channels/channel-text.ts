// What people read of a channel.

import type { AlertChannelKind, AlertChannelRowFragment } from '../../../generated/operations.ts';

export const kindTitles: Record<AlertChannelKind, string> = {
  EMAIL: 'E-mail',
  WEBHOOK: 'Webhook',
  EVENTS: 'Events pipeline',
};

/** Who is told, in one line. */
export function placeText({ kind, url, recipients }: Pick<AlertChannelRowFragment, 'kind' | 'url' | 'recipients'>) {
  if (kind === 'EMAIL') return recipients.join(', ');
  return kind === 'WEBHOOK' ? url : 'event subscriptions with alert_fired.v0';
}
