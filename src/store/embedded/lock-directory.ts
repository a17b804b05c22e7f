import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { EmbeddedError } from './error.ts';

interface FileLocks {
  tryLock(fd: number): boolean;
}

/**
 * Locks a data directory for this process, and creates it (mode 0700) if there is none. Two processes on one embedded database
 * would silently lose each other's rows.
 * The lock is the kernel's, on `<dataDir>/lock`: it ends with the process, however that dies. The file stays: removing
 * it would let a third process lock a new file of the same name.
 * @returns a function that releases the directory.
 * @throws {EmbeddedError} when another process has locked the directory; the text names both.
 */
export function lockDirectory(dataDir: string): () => void {
  if (mkdirSync(dataDir, { recursive: true, mode: 0o700 })) chmodSync(dataDir, 0o700);
  const path = join(dataDir, 'lock');
  // Append, so that opening does not empty what the owner wrote.
  const fd = openSync(path, 'a+', 0o600);
  try {
    if (!fileLocks().tryLock(fd)) {
      throw new EmbeddedError(
        `The data directory ${dataDir} is in use by another process (${owner(path)}). ` +
          'Stop it first, or set DATA_DIR to another directory.',
      );
    }
    ftruncateSync(fd);
    writeSync(fd, `${process.pid}\n`);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return () => closeSync(fd);
}

/** The native module is loaded only here, because with a PostgreSQL server none is needed. */
function fileLocks(): FileLocks {
  try {
    return createRequire(import.meta.url)('fs-native-extensions');
  } catch (cause) {
    throw new EmbeddedError(
      `The embedded database needs file locks, which are not available on ${process.platform}-${process.arch}. ` +
        'Set DATABASE_URL to a PostgreSQL server.',
      { cause },
    );
  }
}

function owner(path: string): string {
  try {
    const pid = readFileSync(path, 'utf8').trim();
    return pid === '' ? 'pid unknown' : `pid ${pid}`;
  } catch {
    // On Windows a locked file cannot be read.
    return 'pid unknown';
  }
}
