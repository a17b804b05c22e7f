// Whether a request is a webhook of the sender that it should be from, and was sent just now.

import type { VisitorError } from '../errors.ts';
import type { HttpExchange } from '../exchange.ts';
import type { Answered } from '../module.ts';
import { type Message, messageOf } from './message.ts';
import type { Provider } from './provider.ts';
import { webhookProvider } from './providers.ts';

/** How far the clock of a sender may be from ours, and how long a webhook may be under way: milliseconds. */
const TOLERANCE = 180_000;
/** Unix time beyond this is in milliseconds: as seconds it would be the year 5138. */
const SECONDS_MAX = 1e11;
/** As many as there can be keys at any sender. */
const SIGNATURES_MAX = 100;

export type Verification =
  | { verified: true }
  | { verified: false; error: VisitorError; reason: string }
  /** The sender tests the endpoint, and is to have this. */
  | { challenge: Answered };

/**
 * Reads the whole body, at most 1 MiB, and checks the signature.
 * @param name of the sender, one of `webhookProviders`; nothing is verified for another one, or with an empty secret.
 * @param time the wall clock, in milliseconds.
 */
export async function verifyWebhook(
  name: string,
  secret: string,
  { request }: Pick<HttpExchange, 'request'>,
  time: number,
): Promise<Verification> {
  const provider = webhookProvider(name);
  if (!provider || secret === '') return refused(`there is no secret for webhooks of "${name}"`);
  let body: Buffer | undefined;
  try {
    body = await request.body();
  } catch (error) {
    return refused(`the body did not arrive: ${error instanceof Error ? error.message : error}`, 'cutShort');
  }
  if (!body) return refused('the body has more than 1 MiB', 'bodyTooLarge');
  const message = messageOf(request, body);
  const reason = whyNot(provider, message, secret, time);
  const challenge = provider.answer?.(message, secret, reason === undefined);
  if (challenge) return { challenge };
  return reason === undefined ? { verified: true } : refused(reason);
}

/** Undefined where it is signed as it should be. */
function whyNot(provider: Provider, message: Message, secret: string, time: number): string | undefined {
  const signatures = provider.signatures(message).slice(0, SIGNATURES_MAX);
  if (signatures.length === 0) return 'the request has no signature of this sender';
  const [timestamp] = provider.timestamp?.(message) ?? [''];
  if (timestamp === undefined) return 'the request does not say when it was signed';
  if (provider.timestamp) {
    const moment = momentOf(timestamp);
    if (moment === undefined) return 'the time at which the request was signed cannot be read';
    const seconds = Math.round((time - moment) / 1000);
    if (Math.abs(time - moment) > TOLERANCE)
      return `the request was signed ${Math.abs(seconds)} s ${seconds > 0 ? 'ago' : 'from now'}, and up to ${TOLERANCE / 1000} s are taken`;
  }
  return provider.fits(message, signatures, secret, timestamp)
    ? undefined
    : 'the signature is not that of this request with this secret';
}

/** Unix time in seconds or milliseconds, or a date as in RFC 3339, which is UTC where no zone is said; in milliseconds. */
function momentOf(text: string): number | undefined {
  if (/^[0-9]{1,16}$/.test(text)) return Number(text) > SECONDS_MAX ? Number(text) : Number(text) * 1000;
  const [date, zone] = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const moment = date ? Date.parse(zone ? date : `${date}Z`) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}

function refused(reason: string, error: VisitorError = 'webhookRefused'): Verification {
  return { verified: false, error, reason };
}
