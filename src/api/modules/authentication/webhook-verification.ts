// The webhook verification module of a route: requests have to be signed by the sender that the route is for.

import { webhookVerificationModule } from '../../../edge/modules/webhook-verification.ts';
import { needsSecret, providerProblem, secretProblem, webhookProviders } from '../../../policy/webhooks/providers.ts';
import { lockedModule, storedModule } from '../../../store/edges/module-rows.ts';
import { openModule, sealModule } from '../../../store/edges/module-secrets.ts';
import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkBytes } from '../../text-limits.ts';
import { httpsEdgeRoute } from '../hosts.ts';
import { type ApiModule, type ModuleWrite, secretOwner, storedUnder } from '../module.ts';

const SECRET_MAX_BYTES = 4096;

interface Settings {
  enabled: boolean;
  provider: string;
  secret: string | null;
}

const WebhookVerification = builder.objectRef<Settings>('WebhookVerification').implement({
  description: 'Turns away requests that the provider of webhooks has not signed, with 403.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: 'Whether it acts on traffic.' }),
    provider: t.exposeString('provider', { description: 'Who sends the webhooks, as `github`.' }),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'The secret. Only the answer to the request that replaces the module with it has it; else null.',
    }),
  }),
});

const WebhookVerificationInput = builder.inputType('WebhookVerificationInput', {
  description: 'Who has to have signed requests.',
  fields: (t) => ({
    enabled: t.boolean({ description: 'Whether it acts on traffic. Default true.' }),
    provider: t.string({ required: true, description: `Who sends the webhooks: ${webhookProviders.join(', ')}.` }),
    secret: t.string({
      description:
        'The secret that the provider signs with. Left out, it stays as it is while the provider is the same. `sns` ' +
        'needs none: its messages are checked with the certificate that they name, and a secret is ignored.',
    }),
  }),
});

type Input = typeof WebhookVerificationInput.$inferInput;

async function secretOf({ provider, secret }: Input, writing: ModuleWrite): Promise<string> {
  if (!needsSecret(provider)) return '';
  const place = { member: `${writing.member}secret` };
  if (secret == null) {
    // The row is locked, so that a secret that is kept is the one of the module that is replaced.
    const owner = secretOwner(httpsEdgeRoute, writing);
    const stored = await lockedModule(writing.db, owner, webhookVerificationModule);
    if (stored?.provider !== provider) throw new ApiError('webhookSecretMissing', place);
    return openModule(writing.context.app.keys, owner, webhookVerificationModule, stored).secret;
  }
  checkBytes(place.member, secret, SECRET_MAX_BYTES, 'webhookSecretTooLong');
  const reason = secretProblem(provider, secret);
  if (reason) throw new ApiError('webhookSecretWrong', { ...place, reason });
  return secret;
}

export const webhookVerification: ApiModule<{ modules: unknown }, Settings, Input> = {
  host: httpsEdgeRoute,
  ...storedUnder(webhookVerificationModule),
  noun: 'webhook verification',
  type: WebhookVerification,
  input: WebhookVerificationInput,
  selection: 'enabled provider secret',
  read(row) {
    const stored = storedModule(row, webhookVerificationModule);
    return stored ? { ...stored, secret: null } : null;
  },
  async write(input, writing) {
    const { enabled } = input;
    const { context, member } = writing;
    const reason = providerProblem(input.provider);
    if (reason) throw new ApiError('providerWrong', { member: `${member}provider`, reason });
    // Known in any case; kept in one.
    const provider = input.provider.toLowerCase();
    const settings = { enabled: enabled ?? true, provider, secret: await secretOf({ ...input, provider }, writing) };
    const owner = secretOwner(httpsEdgeRoute, writing);
    const sealed = sealModule(context.app.keys, owner, webhookVerificationModule, settings);
    return { modules: { [webhookVerificationModule.key]: sealed } };
  },
  showOnce: (settings, { secret = null }) => ({ ...settings, secret }),
};
