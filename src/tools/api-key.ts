// `npm run api-key`: creates a new admin key on the machine itself, for operators who have lost the first.

import { resolve } from 'node:path';
import { readConfig } from '../config/config.ts';
import { moduleDescriptors } from '../edge/modules/index.ts';
import { openClient } from '../store/database/client.ts';
import { openDatabase } from '../store/database/open-database.ts';
import { newAdminKey } from '../store/first-start.ts';
import { checkServerKey, loadKeys } from '../store/server-key/server-key.ts';
import { runTool } from './run-tool.ts';

await runTool(async () => {
  const config = readConfig(process.env, resolve(import.meta.dirname, '../..'));
  // The failure of the query reports a lost database.
  const database = await openDatabase(config, { onFatal: () => undefined });
  const prisma = openClient(database.pool);
  try {
    const keys = await loadKeys(config);
    await prisma.$transaction((tx) => checkServerKey(tx, keys, moduleDescriptors));
    const admin = await prisma.owner.findFirst({
      where: { kind: 'USER', role: 'ADMIN', active: true },
      orderBy: { id: 'asc' },
    });
    if (!admin)
      throw new Error('There is no active admin yet: start the gateway once, it makes one and prints its key.');
    const key = await newAdminKey(prisma, keys, admin, 'made by npm run api-key');
    process.stdout.write(`API key: ${key}\n`);
  } finally {
    await prisma.$disconnect();
    await database.close();
  }
});
