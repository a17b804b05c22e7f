// A gateway's database in a process of its own, to be refused or killed: node child.js write|open DATA_DIR

import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

// Node 20 cannot load TypeScript by itself.
const source = fileURLToPath(new URL('../../../src/store/embedded/index.ts', import.meta.url));
const { module } = await runnerImport(source, { configFile: false, logLevel: 'error' });

const [task, dataDir] = process.argv.slice(2);
try {
  const { pool, close } = await module.openEmbedded(dataDir, { onFatal: console.error });
  if (task === 'write') {
    await pool.query('CREATE TABLE IF NOT EXISTS "written" ("n" INTEGER PRIMARY KEY)');
    for (let n = 1; ; n += 1) {
      await pool.query('INSERT INTO "written" VALUES ($1)', [n]);
      console.log(n);
    }
  }
  await close();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
