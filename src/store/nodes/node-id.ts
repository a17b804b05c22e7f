// The id of a gateway process on a database server: kept from start to start, so that a start can clear away what the
// one before it left behind.

import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isId, newId } from '../ids.ts';

export interface NodeId {
  id: string;
  /** Lets another process have the id. */
  release(): void;
}

/**
 * Takes the id in `<dataDir>/node`, or makes it. The kernel's lock on the file ends with the process. Where the id is in
 * use by another process on this directory, or cannot be kept or locked, the process gets one for its own life.
 */
export function takeNodeId(dataDir: string): NodeId {
  let fd: number | undefined;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const path = join(dataDir, 'node');
    fd = openSync(path, 'a+', 0o600); // Append, so that opening does not empty it.
    const { tryLock } = createRequire(import.meta.url)('fs-native-extensions') as { tryLock(fd: number): boolean };
    if (tryLock(fd)) {
      const locked = fd;
      return { id: readOrWrite(locked), release: () => closeSync(locked) };
    }
  } catch {
    // A read-only disk, or a platform without file locks: neither is needed to serve.
  }
  if (fd !== undefined) closeSync(fd);
  return { id: newId('node'), release: () => undefined };
}

function readOrWrite(fd: number): string {
  const kept = readFileSync(fd, 'utf8').trim();
  if (isId('node', kept)) return kept;
  const id = newId('node');
  ftruncateSync(fd);
  writeSync(fd, `${id}\n`);
  return id;
}
