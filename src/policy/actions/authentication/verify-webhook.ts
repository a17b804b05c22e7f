// The action `verify-webhook`: requires a valid signature of one webhook provider.

import type { HttpExchange } from '../../../http/exchange.ts';
import { visitorErrors } from '../../../http/visitor-errors.ts';
import type { ActionKind } from '../../settings/action-kind.ts';
import { PROBLEM } from '../../settings/problems.ts';
import { needsSecret, providerProblem, secretProblem } from '../../webhooks/providers.ts';
import { verifyWebhook } from '../../webhooks/verify.ts';

export const verifyWebhookAction: ActionKind = {
  type: 'verify-webhook',
  aliases: ['webhook-validation'],
  phases: ['on_http_request'],
  members: ['provider', 'secret', 'enforce'],
  result: 'verify_webhook',
  compile(config) {
    const provider = config.text('provider');
    const unknown = provider && providerProblem(provider);
    if (unknown) config.problem('provider', PROBLEM.choice, unknown);
    const isShared = needsSecret(provider);
    const secret = config.template('secret', isShared ? {} : { default: '' });
    const bad = secret.constant && secretProblem(provider, secret.constant);
    if (bad) config.problem('secret', PROBLEM.field, bad);
    const enforce = config.flag('enforce', true);
    return {
      isTerminal: false,
      asksServers: !isShared,
      async run(run) {
        const exchange = run.exchange as HttpExchange; // `on_http_request` always has an exchange.
        const shared = isShared ? secret.evaluate(run.bindings) : '';
        const verification = await verifyWebhook(provider, shared, exchange, config.environment);
        if ('challenge' in verification) return verification.challenge;
        if (verification.verified) {
          run.result('verify_webhook', { verified: true });
          return undefined;
        }
        const { error, reason } = verification;
        const code = `ERR_GATEWAY_${visitorErrors[error].number}`;
        run.result('verify_webhook', { verified: false, error: { code, message: reason } });
        return enforce ? { kind: 'refuse', error, reason: `${provider}: ${reason}` } : undefined;
      },
    };
  },
};
