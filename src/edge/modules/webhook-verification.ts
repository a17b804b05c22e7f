// Lets in the webhooks of one sender.

import type { HttpModule, ModuleEnvironment } from '../module.ts';
import { verifyWebhook } from '../webhooks/verify.ts';
import type { WebhookVerificationSettings } from './settings.ts';

/** All other requests are turned away with 403; what a sender asks to test the endpoint is answered here. */
export function webhookVerification(
  { provider, secret }: Omit<WebhookVerificationSettings, 'enabled'>,
  { time }: Pick<ModuleEnvironment, 'time'>,
): HttpModule {
  return {
    name: 'webhook_verification',
    async onRequest(exchange) {
      const verification = await verifyWebhook(provider, secret, exchange, time());
      if ('challenge' in verification) return verification.challenge;
      if (verification.verified) return undefined;
      return { kind: 'refuse', error: verification.error, reason: `${provider}: ${verification.reason}` };
    },
  };
}
