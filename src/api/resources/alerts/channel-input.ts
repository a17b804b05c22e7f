// The inputs of alert channels, and what they must be like.

import { randomBytes } from 'node:crypto';
import type { TargetRules } from '../../../events/sinks/descriptor.ts';
import { checkSigningSecret, checkWebhookUrl } from '../../../events/sinks/webhook.ts';
import { sealSigningSecret } from '../../../store/alerts/channel-secrets.ts';
import type { Keys } from '../../../store/keys/keys.ts';
import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { targetProblems } from '../events/target-check.ts';
import { AlertChannelKindType } from './channel-type.ts';
import { checkName } from './input-checks.ts';

const RECIPIENTS_MAX = 20;
const EMAIL_MAX_BYTES = 254;
const SECRET_BYTES = 32;

type Kind = 'WEBHOOK' | 'EMAIL' | 'EVENTS';

const texts = {
  name: 'What it is called: one line of 1 to 100 characters.',
  url:
    'Of a webhook: where to POST notifications, `https://…`, at most 2048 bytes, at a host that the gateway’s operator ' +
    'allows (`EVENT_WEBHOOK_HOSTS`).',
  signingSecret:
    'Of a webhook: what requests are signed with (Standard Webhooks), 16 to 1024 bytes, as they are or, after `whsec_`, in ' +
    'base64.',
  recipients: 'Of e-mail: 1 to 20 addresses. Each is sent a link, and alerts only after agreeing there.',
};

export const CreateAlertChannelInput = builder.inputType('CreateAlertChannelInput', {
  description: 'A new alert channel.',
  fields: (t) => ({
    name: t.string({ required: true, description: texts.name }),
    kind: t.field({
      type: AlertChannelKindType,
      required: true,
      description: 'How it tells of alerts; it stays for good.',
    }),
    url: t.string({ description: texts.url }),
    signingSecret: t.string({ description: `${texts.signingSecret} The gateway makes one when it is left out.` }),
    recipients: t.stringList({ description: texts.recipients }),
  }),
});

export const UpdateAlertChannelInput = builder.inputType('UpdateAlertChannelInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    name: t.string({ description: texts.name }),
    url: t.string({
      description: `${texts.url} With another URL, the gateway makes another signing secret, unless one is given.`,
    }),
    signingSecret: t.string({ description: texts.signingSecret }),
    recipients: t.stringList({ description: `${texts.recipients} Replaces the whole list.` }),
  }),
});

type GivenChannel = typeof UpdateAlertChannelInput.$inferInput;

/** What is stored of a channel, and its signing secret in clear. */
export interface CheckedChannel {
  name?: string;
  url?: string;
  recipients?: string[];
  secret?: string;
}

/** @returns what was given. @throws {ApiError} naming the members that are wrong, or are of another kind of channel. */
export function checkChannel(given: GivenChannel, kind: Kind, rules: TargetRules): CheckedChannel {
  const { signingSecret, name, url, recipients } = given;
  const isWebhook = kind === 'WEBHOOK';
  const isEmail = kind === 'EMAIL';
  const checked = checkAll({
    kind: () => refuse(given, [...(isWebhook ? [] : OF_WEBHOOK), ...(isEmail ? [] : OF_EMAIL)], kind),
    secret: () =>
      isWebhook && signingSecret ? asApiError(() => checkSigningSecret(signingSecret, 'signingSecret')) : undefined,
    name: () => (name == null ? undefined : checkName(name)),
    url: () =>
      url != null && (isWebhook || url === '') ? asApiError(() => checkWebhookUrl(url, 'url', rules)) : undefined,
    recipients: () => (isEmail && recipients != null ? checkRecipients(recipients) : undefined),
  });
  return {
    ...(checked.name !== undefined && { name: checked.name }),
    ...(checked.url !== undefined && { url: checked.url }),
    ...(checked.recipients !== undefined && { recipients: checked.recipients }),
    ...(typeof checked.secret === 'string' && { secret: checked.secret }),
  };
}

/** The members of one kind of channel. */
const OF_WEBHOOK = ['url', 'signingSecret'] as const;
const OF_EMAIL = ['recipients'] as const;

/** @throws {ApiError} when a new channel lacks what its kind needs. */
export function requireMembers({ url, recipients }: CheckedChannel, kind: Kind): void {
  if (kind === 'WEBHOOK' && url === undefined) throw new ApiError('targetMemberMissing', { member: 'url' });
  if (kind === 'EMAIL' && recipients === undefined) throw new ApiError('targetMemberMissing', { member: 'recipients' });
}

/** A signing secret of the gateway's own, as Standard Webhooks writes it. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The columns of a signing secret. */
export function sealed(keys: Keys, row: { id: string; accountId: string }, secret: string | undefined) {
  return secret === undefined ? {} : { signingSecret: sealSigningSecret(keys, row, secret) };
}

function refuse(given: GivenChannel, members: readonly (keyof GivenChannel)[], kind: Kind): void {
  checkEach(members, (member) => {
    if (given[member] != null && given[member] !== '') throw new ApiError('alertChannelMember', { member, kind });
  });
}

function checkRecipients(given: readonly string[]): string[] {
  const addresses = given.map((address) => address.trim());
  const isAddress = (text: string) =>
    /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(text) && Buffer.byteLength(text) <= EMAIL_MAX_BYTES;
  const isRight = addresses.length >= 1 && addresses.length <= RECIPIENTS_MAX && addresses.every(isAddress);
  if (!isRight || new Set(addresses).size < addresses.length)
    throw new ApiError('alertRecipientsWrong', { member: 'recipients', max: RECIPIENTS_MAX });
  return addresses;
}

function asApiError<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw targetProblems(error);
  }
}
