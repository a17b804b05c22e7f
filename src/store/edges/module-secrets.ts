// Secrets in the modules of edges and routes, as the database holds them: encrypted, and bound to their row and module.

import type { ModuleDescriptor, ModuleSettings } from '../../edge/modules/descriptor.ts';
import type { Keys } from '../keys/keys.ts';

/** The row that a module belongs to. */
export interface SecretOwner {
  table: 'route' | 'edge';
  id: string;
  accountId: string;
}

/** The module as the database takes it. */
export function sealModule<Settings extends ModuleSettings, Stored extends ModuleSettings>(
  keys: Keys,
  owner: SecretOwner,
  { key, mapSecrets }: ModuleDescriptor<Settings, Stored>,
  module: Stored,
): Stored {
  return mapSecrets?.(module, (secret, part) => keys.seal(secret, secretPlace(owner, key, part))) ?? module;
}

/** The module with its secrets in clear: for what acts on traffic, never for a response. Throws when it belongs elsewhere. */
export function openModule<Settings extends ModuleSettings, Stored extends ModuleSettings>(
  keys: Keys,
  owner: SecretOwner,
  { key, mapSecrets }: ModuleDescriptor<Settings, Stored>,
  stored: Stored,
): Stored {
  return mapSecrets?.(stored, (sealed, part) => keys.open(sealed, secretPlace(owner, key, part))) ?? stored;
}

/** What a secret is bound to. It is a part of what is stored: never change it. */
export function secretPlace({ table, id, accountId }: SecretOwner, key: string, part: string): string {
  return `${table}:${accountId}:${id}:${key}${part}`;
}
