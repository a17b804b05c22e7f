// Starts what knows the secrets that policies read.

import type { Logger } from 'pino';
import { LiveSecrets } from '../../edge/vaults/live-secrets.ts';
import type { SecretSource } from '../../edge/vaults/secret-source.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import type { Lifecycle } from '../lifecycle.ts';

/** Starts it; the secrets are loaded then, so that the first visitor's policy has them. */
export async function startSecrets(parts: Lifecycle, source: SecretSource, log: Logger): Promise<LiveSecrets> {
  const onFailure = (error: unknown) =>
    log.error({ err: describeFailure(error) }, 'the secrets cannot be loaded; trying again');
  const secrets = await parts.start({
    name: 'secrets',
    start: () => new LiveSecrets(source, onFailure),
    stop: (secrets) => secrets.close(),
  });
  await secrets.start();
  return secrets;
}
