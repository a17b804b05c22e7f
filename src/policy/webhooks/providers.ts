// The registry of webhook providers. A new provider is a row in one of its tables.

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

/** The names of all providers in alphabetical order. */
export const webhookProviders: readonly string[] = [...providers.keys()];

/** A provider by its name; undefined when it is unknown. @param name in any case. */
export function webhookProvider(name: string): AnyProvider | undefined {
  return providers.get(name.toLowerCase());
}

/** The mistake in the name of a provider, worded to be read after `provider`; undefined when there is none. */
export function providerProblem(name: string): string | undefined {
  return webhookProvider(name) ? undefined : `must be one of ${webhookProviders.join(', ')}`;
}

/** Whether a provider needs a shared secret. A policy may have a secret for other providers, too; it is ignored. */
export function needsSecret(name: string): boolean {
  return !webhookProvider(name)?.isKeyPublished;
}

/** The mistake in a provider's secret, worded to be read after `secret`; undefined when there is none. */
export function secretProblem(name: string, secret: string): string | undefined {
  if (!needsSecret(name)) return undefined;
  return secret === '' ? 'must not be empty' : webhookProvider(name)?.secretProblem?.(secret);
}
