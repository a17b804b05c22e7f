// `npm run restore -- FILE`: restores a backup.

import { join, resolve } from 'node:path';
import { readConfig } from '../config/config.ts';
import { packageRoot } from '../config/package-root.ts';
import { commandLine } from '../process/command-line.ts';
import { restore } from '../store/backup/backup.ts';
import { recordForAll } from './record-act.ts';
import { runTool } from './run-tool.ts';
import { withStore } from './with-store.ts';

await runTool(async (file) => {
  if (!file) throw new Error(`Say which backup: ${commandLine('restore', 'FILE')}`);
  const root = packageRoot(import.meta.dirname);
  const rows = await restore(readConfig(process.env, root), resolve(file), join(root, 'prisma/migrations'));
  await withStore(({ config, prisma }) => recordForAll(prisma, config, 'npm run restore', 'RESTORED'));
  console.log(`${file} is restored: ${Object.values(rows).reduce((sum, count) => sum + count, 0)} rows`);
});
