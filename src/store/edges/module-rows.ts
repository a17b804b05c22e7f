// The modules of edges and routes in their rows: one JSON object, keyed by module.

import type {
  ModuleDescriptor,
  ModuleReferences,
  ModuleSettings,
  ModulesSettings,
} from '../../edge/modules/descriptor.ts';
import type { Db } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Keys } from '../keys/keys.ts';
import { openModule, type SecretOwner } from './module-secrets.ts';

/** The stored settings of a module; undefined when it is not set. Only the module itself writes them. */
export function storedModule<Settings extends ModuleSettings, Stored extends ModuleSettings>(
  row: { modules: unknown },
  { key }: ModuleDescriptor<Settings, Stored>,
): Stored | undefined {
  return (row.modules as Record<string, Stored | undefined>)[key];
}

/** Reads the stored settings of a module, and locks the row until the transaction ends, so that nobody changes them meanwhile. */
export async function lockedModule<Settings extends ModuleSettings, Stored extends ModuleSettings>(
  db: Db,
  { table, id, accountId }: SecretOwner,
  descriptor: ModuleDescriptor<Settings, Stored>,
): Promise<Stored | undefined> {
  const [row] = await db.$queryRaw<{ modules: unknown }[]>`
    SELECT modules FROM ${Prisma.raw(table)} WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`;
  return row && storedModule(row, descriptor);
}

/**
 * Sets some modules of a row, and removes those that are null. The other modules stay as they are, even if another transaction
 * writes them at the same time.
 */
export async function writeStoredModules(
  db: Db,
  table: SecretOwner['table'],
  id: string,
  modules: Readonly<Record<string, object | null>>,
): Promise<void> {
  const all = Object.entries(modules);
  const set = JSON.stringify(Object.fromEntries(all.filter(([, settings]) => settings !== null)));
  const unset = all.flatMap(([key, settings]) => (settings === null ? key : []));
  await db.$executeRaw`
    UPDATE ${Prisma.raw(table)} SET modules = (modules - ${unset}::text[]) || ${set}::jsonb WHERE id = ${id}`;
}

/**
 * The settings of a row's modules, with secrets decrypted and references resolved. Modules whose secrets cannot be decrypted are
 * left out.
 * @returns the modules, and as `failure` why one was left out.
 */
export function openModules(
  keys: Keys,
  owner: SecretOwner,
  row: { modules: unknown },
  descriptors: readonly ModuleDescriptor[],
  references: ModuleReferences,
): { modules: ModulesSettings; failure?: string } {
  const modules: Record<string, ModuleSettings> = {};
  let failure: string | undefined;
  for (const descriptor of descriptors) {
    const stored = storedModule(row, descriptor);
    if (!stored) continue;
    try {
      const opened = openModule(keys, owner, descriptor, stored);
      modules[descriptor.key] = descriptor.resolve?.(opened, references) ?? opened;
    } catch (error) {
      failure ??= (error as Error).message;
    }
  }
  return failure === undefined ? { modules } : { modules, failure };
}
