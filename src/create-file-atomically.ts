// Files that must be there whole or not at all: keys, certificates.

import { randomBytes } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';

/**
 * Makes a file, on the disk before its name is: written beside its place, synced, then linked there. A file that is there
 * already stays as it is, as whoever was first counts.
 * @param mode as for `chmod`, whatever the umask says.
 */
export async function createFileAtomically(file: string, mode: number, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'w', mode);
  try {
    await handle.writeFile(text);
    await handle.chmod(mode);
    await handle.sync();
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
}
