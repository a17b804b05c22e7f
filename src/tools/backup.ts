// `npm run backup -- FILE`: writes a backup of the database and the server key.

import { resolve } from 'node:path';
import { readConfig } from '../config/config.ts';
import { packageRoot } from '../config/package-root.ts';
import { commandLine } from '../process/command-line.ts';
import { backup } from '../store/backup/backup.ts';
import { recordForAll } from './record-act.ts';
import { runTool } from './run-tool.ts';
import { withStore } from './with-store.ts';

await runTool(async (file) => {
  if (!file) throw new Error(`Say where to: ${commandLine('backup', 'FILE')}`);
  const root = packageRoot(import.meta.dirname);
  const rows = await backup(readConfig(process.env, root), resolve(file));
  console.log(
    `${file} is written: ${Object.values(rows).reduce((sum, count) => sum + count, 0)} rows and the server key`,
  );
  try {
    await withStore(({ config, prisma }) => recordForAll(prisma, config, 'npm run backup', 'BACKED_UP'));
  } catch (error) {
    // The file is whole. A standby of the database takes no line, and neither does one that this version has not migrated yet.
    console.error(`The audit trail does not have it: ${error instanceof Error ? error.message : String(error)}`);
  }
  console.log('Keep it where only you can read it: it opens everything this gateway keeps secret.');
});
