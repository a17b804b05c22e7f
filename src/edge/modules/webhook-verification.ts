// Lets in the webhooks of one sender.

import type { HttpModule, ModuleEnvironment } from '../../http/module.ts';
import { decisionReport } from '../../http/module-report.ts';
import { needsSecret, providerProblem, secretProblem } from '../../policy/webhooks/providers.ts';
import { verifyWebhook } from '../../policy/webhooks/verify.ts';
import { AgentError } from '../../tunnel/control/agent-errors.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';

export interface WebhookVerificationSettings extends ModuleSettings {
  provider: string;
  secret: string;
}

const report = decisionReport<'allow' | 'deny'>(
  'webhook_verification',
  'What webhook verification decided: "allow" or "deny".',
);

export const webhookVerificationModule: ModuleDescriptor<WebhookVerificationSettings> = {
  key: 'webhookVerification',
  phase: 'signature',
  create: (settings, _, environment) => ({ http: webhookVerification(settings, environment) }),
  report,
  mapSecrets: (settings, change) => ({ ...settings, secret: change(settings.secret, '.secret') }),
  bindOption: {
    names: ['WebhookVerification'],
    scope: 'http',
    read(options, name) {
      const webhook = options.fields(name);
      const [provider, secret] = [webhook.text('provider'), webhook.text('secret')];
      // Only the service that sealed a secret can open it.
      if (!secret && webhook.text('sealed_secret') !== '' && needsSecret(provider))
        throw new AgentError('optionNotActedOn', { option: 'sealed_secret' });
      return { enabled: true, provider, secret };
    },
  },
};

/**
 * All other requests are turned away with 403; what a sender asks to test the endpoint is answered here.
 * @throws {SettingsError}
 */
export function webhookVerification(
  { provider, secret }: Omit<WebhookVerificationSettings, 'enabled'>,
  environment: Pick<ModuleEnvironment, 'time' | 'signingKey'>,
): HttpModule {
  const unknown = providerProblem(provider);
  if (unknown) throw new SettingsError(`the provider "${provider}" of webhooks ${unknown}`);
  const bad = secretProblem(provider, secret);
  if (bad) throw new SettingsError(`the secret for webhooks of ${provider} ${bad}`);
  return {
    name: 'webhook_verification',
    async onRequest(exchange) {
      const verification = await verifyWebhook(provider, secret, exchange, environment);
      const isLetIn = 'challenge' in verification || verification.verified;
      report.note(exchange.decisions, isLetIn ? 'allow' : 'deny');
      if ('challenge' in verification) return verification.challenge;
      if (verification.verified) return undefined;
      return { kind: 'refuse', error: verification.error, reason: `${provider}: ${verification.reason}` };
    },
  };
}
