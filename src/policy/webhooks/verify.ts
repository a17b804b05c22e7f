// Verifies that a request is an authentic and recent webhook of a provider.

import type { HttpExchange } from '../../http/exchange.ts';
import type { ModuleEnvironment, Responded } from '../../http/module.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { KeysUnavailable } from '../keys/key-cache.ts';
import { type WebhookMessage, webhookMessage } from './message.ts';
import type { PublishedKeyProvider, SharedSecretProvider } from './provider.ts';
import { webhookProvider } from './providers.ts';
import { timeProblem } from './timestamps.ts';

/** The largest age of a webhook, in milliseconds, for clock skew and transport. */
const TOLERANCE_MS = 180_000;
/** The most signatures that are checked. No provider has so many keys. */
const SIGNATURES_MAX = 100;

/** The result of a verification. */
export type Verification =
  | { verified: true }
  | { verified: false; error: VisitorError; reason: string }
  /** The response to a challenge of the provider. */
  | { challenge: Responded };

/**
 * Reads the whole body, at most 1 MiB, and checks the signature.
 * @param name the provider, one of `webhookProviders`; webhooks of any other are refused.
 * @param secret the shared secret; an empty one refuses all webhooks. Ignored for providers without one.
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
    return verifyByPublishedKey(provider, message, time(), (url) => signingKey(url, endpoint.accountId));
  const reason = refusalReason(provider, message, secret, time());
  const challenge = provider.answer?.(message, secret, reason === undefined);
  if (challenge) return { challenge };
  return reason === undefined ? { verified: true } : refused(reason);
}

/** The reason why a message is refused; undefined when its signature is valid. */
function refusalReason(
  provider: SharedSecretProvider,
  message: WebhookMessage,
  secret: string,
  time: number,
): string | undefined {
  const signatures = provider.signatures(message).slice(0, SIGNATURES_MAX);
  if (signatures.length === 0) return 'the request has no signature of this sender';
  const [timestamp] = provider.timestamp?.(message) ?? [''];
  if (timestamp === undefined) return 'the request does not say when it was signed';
  const expired = provider.timestamp && timeProblem(timestamp, time, TOLERANCE_MS);
  if (expired) return expired;
  return provider.hasValidSignature(message, signatures, secret, timestamp)
    ? undefined
    : 'the signature is not that of this request with this secret';
}

async function verifyByPublishedKey(
  provider: PublishedKeyProvider,
  ...args: Parameters<PublishedKeyProvider['problem']>
): Promise<Verification> {
  try {
    const reason = await provider.problem(...args);
    return reason === undefined ? { verified: true } : refused(reason);
  } catch (error) {
    if (!(error instanceof KeysUnavailable)) throw error;
    return refused(`the certificate cannot be had: ${error.message}`, 'signerUnavailable');
  }
}

function refused(reason: string, error: VisitorError = 'webhookRefused'): Verification {
  return { verified: false, error, reason };
}
