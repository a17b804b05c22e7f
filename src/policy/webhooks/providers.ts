// The senders of webhooks that are known here. One more is one more row in the table that fits it.

import { bodyProviders } from './body-providers.ts';
import { customProviders } from './custom-providers.ts';
import type { PublishedKeyProvider, SharedSecretProvider } from './provider.ts';
import { sns } from './sns.ts';
import { timestampedProviders } from './timestamped-providers.ts';

type AnyProvider = SharedSecretProvider | PublishedKeyProvider;

const providers = new Map(
  Object.entries<AnyProvider>({ ...bodyProviders, ...timestampedProviders, ...customProviders, sns }).sort(
    ([a], [b]) => (a < b ? -1 : 1),
  ),
);

/** What senders are called, in the order of the alphabet. */
export const webhookProviders: readonly string[] = [...providers.keys()];

/** Undefined: not known. @param name in any case. */
export function webhookProvider(name: string): AnyProvider | undefined {
  return providers.get(name.toLowerCase());
}

/** What is wrong with the name of a sender, to be read behind `provider`. */
export function providerProblem(name: string): string | undefined {
  return webhookProvider(name) ? undefined : `must be one of ${webhookProviders.join(', ')}`;
}

/** Whether a secret is shared with a sender; there may be one, which is not looked at, for those that need none. */
export function needsSecret(name: string): boolean {
  return !webhookProvider(name)?.isKeyPublished;
}

/** What is wrong with a sender's secret, to be read behind `secret`. */
export function secretProblem(name: string, secret: string): string | undefined {
  if (!needsSecret(name)) return undefined;
  return secret === '' ? 'must not be empty' : webhookProvider(name)?.secretProblem?.(secret);
}
