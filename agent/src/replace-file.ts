// Replaces files of the agent atomically. They have secrets, so nobody else may read them.

import { existsSync, mkdirSync } from 'node:fs';
import { copyFile, link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a directory for the agent's files, with those above it. Node's own `recursive` never returns where none can be made, as below
 * /proc (nodejs/node issue 31481).
 * @throws {Error} that of the first directory that cannot be made.
 */
export function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Replaces a file atomically: at every moment its name leads to a complete version. Resolves when that is on the disk.
 * @param keepsBackup whether to keep the old version as `FILE.bak`.
 */
export async function replaceFile(file: string, text: string, keepsBackup: boolean): Promise<void> {
  makeDirectory(dirname(file));
  const draft = `${file}.new`;
  await rm(draft, { force: true }); // A draft of a crash is removed, as its mode would be kept.
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (keepsBackup) {
    await rm(`${file}.bak`, { force: true });
    // Some file systems have no hard links.
    await link(file, `${file}.bak`).catch(() => copyFile(file, `${file}.bak`));
  }
  await rename(draft, file);
  const directory = await open(dirname(file), 'r');
  // On systems that cannot sync a directory, the rename alone must do.
  await directory.sync().catch(() => {});
  await directory.close();
}
