// A database on a small disk, which stops itself as the disk is full: node full-disk-child.mjs DIRECTORY. Prints what was
// acknowledged and what is there, after there is room again. Before that the disk is full once more, at the very moment
// when the database is opened again.

import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const { openEmbedded } = await import(new URL('../../../dist/store/embedded/index.js', import.meta.url).href);
const [directory = ''] = process.argv.slice(2);
const ballast = `${directory}/ballast`;
const onFatal = (/** @type {string} */ text) => {
  process.stdout.write(`${text}\n`);
  process.exit(1);
};
const { pool, close } = await openEmbedded(`${directory}/data`, { onFatal });
await pool.query('CREATE TABLE "kept" ("n" INTEGER)');
let acknowledged = 0;
const write = async () => {
  await pool.query('INSERT INTO "kept" VALUES (1)');
  acknowledged++;
};
await write();

fill();
// The log goes on in a new file, for which there is no room. It may have one in reserve.
let stopped = '';
// Either statement may be the one that needs it.
const noteStop = (/** @type {Error} */ error) => {
  if (/PANIC/.test(error.message)) stopped = error.message;
};
while (stopped === '') {
  await write().catch(noteStop);
  if (stopped === '') await pool.query('SELECT pg_switch_wal()').catch(noteStop);
}
let attempts = 0;
process.on('worker', (worker) => {
  if (++attempts > 1) return;
  fill();
  worker.once('exit', () => rmSync(ballast));
});
rmSync(ballast);
const before = acknowledged;
while (acknowledged === before) await write().catch(() => wait(100));
const { rows } = await pool.query('SELECT count(*)::int AS "rows" FROM "kept"');
await close();
process.stdout.write(
  `${JSON.stringify({ stopped: /No space left/.test(stopped), attempts, rows: rows[0].rows - acknowledged })}\n`,
);

function fill() {
  const fd = openSync(ballast, 'w');
  try {
    for (;;) writeSync(fd, Buffer.alloc(65_536));
  } catch {
    closeSync(fd);
  }
}
