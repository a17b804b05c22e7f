// The senders of webhooks that are known here. One more is one more row in the table that fits it.

import type { Provider } from './provider.ts';
import { sendersOfBodies } from './senders-of-bodies.ts';
import { sendersOfTheirOwn } from './senders-of-their-own.ts';
import { sendersWithTimestamps } from './senders-with-timestamps.ts';

const providers = new Map(
  Object.entries<Provider>({ ...sendersOfBodies, ...sendersWithTimestamps, ...sendersOfTheirOwn }).sort(([a], [b]) =>
    a < b ? -1 : 1,
  ),
);

/** What senders are called, in the order of the alphabet. */
export const webhookProviders: readonly string[] = [...providers.keys()];

/** Undefined: not known. */
export function webhookProvider(name: string): Provider | undefined {
  return providers.get(name);
}

/** What is wrong with the name of a sender, to be read behind `provider`. */
export function providerProblem(name: string): string | undefined {
  return providers.has(name) ? undefined : `must be one of ${webhookProviders.join(', ')}`;
}

/** What is wrong with a sender's secret, to be read behind `secret`. */
export function secretProblem(name: string, secret: string): string | undefined {
  return secret === '' ? 'must not be empty' : providers.get(name)?.secretProblem?.(secret);
}
