// The store of a gateway, for a command on its machine.

import { type Config, readConfig } from '../config/config.ts';
import { packageRoot } from '../config/package-root.ts';
import { moduleDescriptors } from '../edge/modules/index.ts';
import { openClient, type PrismaClient } from '../store/database/client.ts';
import { openDatabase } from '../store/database/open-database.ts';
import type { Keys } from '../store/keys/keys.ts';
import { checkServerKey, loadKeys } from '../store/server-key/server-key.ts';

export interface Store {
  config: Config;
  prisma: PrismaClient;
  keys: Keys;
}

/**
 * Opens the store that the environment names, for some work.
 * @throws when it cannot be opened, such as an embedded database that a gateway has open, or has another server key.
 */
export async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
  const config = readConfig(process.env, packageRoot(import.meta.dirname));
  // The failure of the query reports a lost database.
  const database = await openDatabase(config, { onFatal: () => undefined });
  const prisma = openClient(database.pool);
  try {
    const keys = await loadKeys(config);
    await prisma.$transaction((tx) => checkServerKey(tx, keys, moduleDescriptors));
    await work({ config, prisma, keys });
  } finally {
    await prisma.$disconnect();
    await database.close();
  }
}
