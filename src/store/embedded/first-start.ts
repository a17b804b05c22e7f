import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_OPEN_FILES = 16;

/**
 * Makes the making of a new database all or nothing. While `<dataDir>/db.incomplete` exists, `<dataDir>/db` was never
 * used: a start that was killed half-way is thrown away and begun again.
 * @returns to be called once the new database is open; undefined when there is a database already.
 */
export function beginFirstStart(dataDir: string): (() => Promise<void>) | undefined {
  const directory = join(dataDir, 'db');
  const mark = join(dataDir, 'db.incomplete');
  if (existsSync(directory) && !existsSync(mark)) return undefined;
  closeSync(openSync(mark, 'w', 0o600));
  syncDirectory(dataDir);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { mode: 0o700 });
  return async () => {
    await syncTree(directory);
    rmSync(mark);
    syncDirectory(dataDir);
  };
}

/** PGlite copies a new cluster into place without a single fsync. */
async function syncTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const syncNext = async () => {
    for (let path = files.pop(); path !== undefined; path = files.pop()) {
      const file = await open(path, 'r+');
      await file.sync().finally(() => file.close());
    }
  };
  await Promise.all(Array.from({ length: MAX_OPEN_FILES }, syncNext));
  const directories = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of [...directories, directory]) syncDirectory(path);
}

function syncDirectory(path: string): void {
  // Windows cannot open a directory, and needs no such call.
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
