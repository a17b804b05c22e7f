// Secrets in the modules of edges and routes in the database. They are encrypted, and bound to their row and module.

import type { ModuleDescriptor, ModuleSettings } from '../../edge/modules/descriptor.ts';
import type { Keys } from '../keys/keys.ts';

/** The row that a module belongs to. */
export interface SecretOwner {
  table: 'route' | 'edge';
  id: string;
  accountId: string;
}

/** The settings of a module with their secrets encrypted, as they are stored. */
export function sealModule<Settings extends ModuleSettings, Stored extends ModuleSettings>(
  keys: Keys,
  owner: SecretOwner,
  { key, mapSecrets }: ModuleDescriptor<Settings, Stored>,
  module: Stored,
): Stored {
  return mapSecrets?.(module, (secret, part) => keys.seal(secret, secretPlace(owner, key, part))) ?? module;
}

/**
 * The settings of a module with their secrets decrypted. They are for the data plane, never for a response of the API.
 * @throws when the secrets were encrypted for another row or module.
 */
export function openModule<Settings extends ModuleSettings, Stored extends ModuleSettings>(
  keys: Keys,
  owner: SecretOwner,
  { key, mapSecrets }: ModuleDescriptor<Settings, Stored>,
  stored: Stored,
): Stored {
  return mapSecrets?.(stored, (sealed, part) => keys.open(sealed, secretPlace(owner, key, part))) ?? stored;
}

/** The associated data of a secret's encryption. It must never change, because stored secrets depend on it. */
export function secretPlace({ table, id, accountId }: SecretOwner, key: string, part: string): string {
  return `${table}:${accountId}:${id}:${key}${part}`;
}
