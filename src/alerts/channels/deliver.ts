// Delivers a notification to a channel, once.

import type { EventSettings } from '../../events/settings.ts';
import type { Outbound } from '../../events/sinks/http/outbound.ts';
import { openSignedPost, postSigned } from '../../events/sinks/http/signed-post.ts';
import { DeliveryError } from '../delivery-error.ts';
import type { NotificationBody } from '../notification.ts';
import type { Mailer } from './email.ts';

/** How long one attempt may take; milliseconds. */
export const ATTEMPT_MS = 20_000;

/** A channel as it is delivered to. */
export type OpenChannel =
  /** @param signingSecret in clear; null when it was sealed with a server key that this process does not have. */
  { kind: 'WEBHOOK'; url: string; signingSecret: string | null } | { kind: 'EMAIL'; recipients: string[] };

export interface ChannelContext {
  settings: Pick<EventSettings, 'eventWebhookHosts'>;
  outbound: Outbound;
  mailer: Mailer;
  /** The wall clock, in milliseconds. */
  now(): number;
}

/**
 * Sends a notification. It carries its id, so that whoever gets it twice can tell.
 * @returns what went wrong although it was taken, in one line; mostly ''.
 * @throws {DeliveryError | SinkError} when it was not taken.
 */
export async function deliver(channel: OpenChannel, body: NotificationBody, context: ChannelContext): Promise<string> {
  const signal = AbortSignal.timeout(ATTEMPT_MS);
  if (channel.kind === 'EMAIL') return context.mailer.send(channel.recipients, body, signal);
  if (channel.signingSecret === null)
    throw new DeliveryError({
      code: 'UnreadableSecret',
      message: 'the signing secret was encrypted with another server key; give it again',
    });
  const target = openSignedPost(channel.url, channel.signingSecret, context);
  const message = { id: body.notification_id, body: Buffer.from(JSON.stringify(body)) };
  await postSigned(target, message, context, signal);
  return '';
}
