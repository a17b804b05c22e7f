// Whether a request is a webhook of the sender that it should be from, and was sent just now.

import type { HttpExchange } from '../../http/exchange.ts';
import type { ModuleEnvironment, Responded } from '../../http/module.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { KeysUnavailable } from '../keys/key-cache.ts';
import { type WebhookMessage, webhookMessage } from './message.ts';
import type { PublishedKeyProvider, SharedSecretProvider } from './provider.ts';
import { webhookProvider } from './providers.ts';
import { timeProblem } from './timestamps.ts';

/** How far the clock of a sender may be from ours, and how long a webhook may be under way: milliseconds. */
const TOLERANCE = 180_000;
/** As many as there can be keys at any sender. */
const SIGNATURES_MAX = 100;

export type Verification =
  | { verified: true }
  | { verified: false; error: VisitorError; reason: string }
  /** The sender tests the endpoint, and is to have this. */
  | { challenge: Responded };

/**
 * Reads the whole body, at most 1 MiB, and checks the signature.
 * @param name of the sender, one of `webhookProviders`; nothing is verified for another one.
 * @param secret that is shared with it; nothing is verified with an empty one. Not looked at for senders without one.
 */
export async function verifyWebhook(
  name: string,
  secret: string,
  { request, endpoint }: Pick<HttpExchange, 'request' | 'endpoint'>,
  { time, signingKey }: Pick<ModuleEnvironment, 'time' | 'signingKey'>,
): Promise<Verification> {
  const provider = webhookProvider(name);
  if (!provider || (secret === '' && !provider.isKeyPublished))
    return refused(`there is no secret for webhooks of "${name}"`);
  let body: Buffer | undefined;
  try {
    body = await request.body();
  } catch (error) {
    return refused(`the body did not arrive: ${error instanceof Error ? error.message : error}`, 'cutShort');
  }
  if (!body) return refused('the body has more than 1 MiB', 'bodyTooLarge');
  const message = webhookMessage(request, body);
  if (provider.isKeyPublished)
    return byPublishedKey(provider, message, time(), (url) => signingKey(url, endpoint.accountId));
  const reason = whyNot(provider, message, secret, time());
  const challenge = provider.answer?.(message, secret, reason === undefined);
  if (challenge) return { challenge };
  return reason === undefined ? { verified: true } : refused(reason);
}

/** Undefined where it is signed as it should be. */
function whyNot(
  provider: SharedSecretProvider,
  message: WebhookMessage,
  secret: string,
  time: number,
): string | undefined {
  const signatures = provider.signatures(message).slice(0, SIGNATURES_MAX);
  if (signatures.length === 0) return 'the request has no signature of this sender';
  const [timestamp] = provider.timestamp?.(message) ?? [''];
  if (timestamp === undefined) return 'the request does not say when it was signed';
  const late = provider.timestamp && timeProblem(timestamp, time, TOLERANCE);
  if (late) return late;
  return provider.hasValidSignature(message, signatures, secret, timestamp)
    ? undefined
    : 'the signature is not that of this request with this secret';
}

async function byPublishedKey(
  provider: PublishedKeyProvider,
  ...judged: Parameters<PublishedKeyProvider['problem']>
): Promise<Verification> {
  try {
    const reason = await provider.problem(...judged);
    return reason === undefined ? { verified: true } : refused(reason);
  } catch (error) {
    if (!(error instanceof KeysUnavailable)) throw error;
    return refused(`the certificate cannot be had: ${error.message}`, 'signerUnavailable');
  }
}

function refused(reason: string, error: VisitorError = 'webhookRefused'): Verification {
  return { verified: false, error, reason };
}
