// Secrets in the modules of routes, as the database holds them: encrypted, and bound to their row and their place in it.

import type { BasicAuthSettings, WebhookVerificationSettings } from '../../edge/modules/settings.ts';
import type { Keys } from '../keys/keys.ts';

/** The route that a module belongs to. */
export interface SecretOwner {
  id: string;
  accountId: string;
}

type WithSecrets = WebhookVerificationSettings | BasicAuthSettings;

/** The module as the database takes it. */
export function sealModule<T extends WithSecrets>(keys: Keys, owner: SecretOwner, module: T): T {
  return mapSecrets(module, (secret, member) => sealSecret(keys, owner, member, secret));
}

/** The module with its secrets in clear: for whoever acts on traffic, never for an answer. Throws when it belongs elsewhere. */
export function openModule<T extends WithSecrets>(keys: Keys, owner: SecretOwner, module: T): T {
  return mapSecrets(module, (secret, member) => openSecret(keys, owner, member, secret));
}

/** @param member `webhookVerification.secret`, or `basicAuth.<user name>` for each password. */
export function sealSecret(keys: Keys, owner: SecretOwner, member: string, secret: string): string {
  return keys.seal(secret, placeOf(owner, member));
}

/** What `sealSecret` made for the same route and member. */
export function openSecret(keys: Keys, owner: SecretOwner, member: string, sealed: string): string {
  return keys.open(sealed, placeOf(owner, member));
}

function placeOf({ id, accountId }: SecretOwner, member: string): string {
  return `route:${accountId}:${id}:${member}`;
}

function mapSecrets<T extends WithSecrets>(module: T, change: (secret: string, member: string) => string): T {
  if ('secret' in module) return { ...module, secret: change(module.secret, 'webhookVerification.secret') };
  const credentials = module.credentials.map(({ username, password }) => ({
    username,
    password: change(password, `basicAuth.${username}`),
  }));
  return { ...module, credentials };
}
