// The webhook sink, an addition to the specification. It sends events as a JSON array, signed as in Standard Webhooks
// (https://www.standardwebhooks.com), to hosts that the operator allows.

import type { WrittenEvent } from '../written-event.ts';
import { type SinkContext, type SinkDescriptor, secretMember, type TargetRules, textMember } from './descriptor.ts';
import { isUrlAllowed } from './http/allowed-hosts.ts';
import { openSignedPost, postSigned } from './http/signed-post.ts';
import type { Sink } from './sink.ts';
import { checkSecret, checkTargetMembers, requireText, TargetError } from './target-error.ts';

const BODY_BYTES = 1024 * 1024;
const URL_MAX_BYTES = 2048;
const SIGNING_SECRET_MIN_BYTES = 16;

type WebhookTarget = {
  url: string;
  signingSecret: string | null;
};

const errors = {
  webhookForbidden: { number: 90071, text: '{member} {reason}.' },
  badSigningSecret: {
    number: 90072,
    text: '{member} must have at least 16 bytes, either as plain text or, after "whsec_", in base64.',
  },
};

export const webhook: SinkDescriptor<WebhookTarget> = {
  title: 'An HTTP server of your own.',
  description: 'An HTTP server of your own.',
  isAddition: true,
  members: {
    url: textMember(
      'Where events are POSTed.',
      'Required. Where to POST events: `https://…`, at most 2048 bytes, at a host that the gateway’s operator allows ' +
        '(`EVENT_WEBHOOK_HOSTS`).',
    ),
    signingSecret: secretMember(
      'What requests are signed with.',
      'Required. What requests are signed with (Standard Webhooks): 16 to 1024 bytes, as they are or, after `whsec_`, ' +
        'in base64.',
    ),
  },
  errors,
  check({ url, signingSecret }, path, rules) {
    return checkTargetMembers({
      url: () => checkWebhookUrl(url, `${path}.url`, rules),
      signingSecret: () => checkSigningSecret(signingSecret, `${path}.signingSecret`),
    });
  },
  recipient: ({ url }) => url,
  open: (target, context) => webhookSink(target, context),
};

/** @throws {TargetError} when there is none, or the operator does not allow its host. */
export function checkWebhookUrl(
  url: string | null | undefined,
  member: string,
  rules: Pick<TargetRules, 'eventWebhookHosts'>,
): string {
  const checked = requireText(url, member, URL_MAX_BYTES);
  const allowed = isUrlAllowed(checked, rules);
  if (allowed !== true) throw new TargetError(errors.webhookForbidden, { member, reason: allowed });
  return checked;
}

/** @returns null when none was given. @throws {TargetError} when it is too short, too long, or has other characters. */
export function checkSigningSecret(given: string | null | undefined, member: string): string | null {
  const secret = checkSecret(given, member);
  const [, base64] = /^whsec_(.*)$/.exec(secret ?? '') ?? [];
  const key = base64 === undefined ? secret : Buffer.from(base64, 'base64');
  const isWhole = !(key instanceof Buffer) || key.toString('base64') === base64;
  if (key && (key.length < SIGNING_SECRET_MIN_BYTES || !isWhole))
    throw new TargetError(errors.badSigningSecret, { member });
  return secret;
}

/** @throws {SinkError} when the operator does not allow its host, or there is nothing to sign with. */
export async function webhookSink({ url, signingSecret }: WebhookTarget, context: SinkContext): Promise<Sink> {
  const target = openSignedPost(url, signingSecret, context);
  return {
    limits: { records: 500, bytes: BODY_BYTES - 2, recordBytes: BODY_BYTES - 2 },
    sizeOf: ({ size }) => size + 1,
    async put(events, signal) {
      const body = Buffer.from(`[${events.map(({ text }) => text).join(',')}]`);
      await postSigned(target, { id: messageId(events), body }, context, signal);
      return [];
    },
    close() {},
  };
}

/** The message id. It is the same whenever the same events are sent. It has no full stops, which separate the parts that are signed. */
function messageId(events: readonly WrittenEvent[]): string {
  return `${events[0]?.id}-${events.length}`;
}
