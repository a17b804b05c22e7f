// The id of a gateway process on a database server. It stays the same over restarts, so that a start can delete what the run
// before left behind.

import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isId, newId } from '../ids.ts';

export interface NodeId {
  id: string;
  /** Lets another process take the id. */
  release(): void;
}

/**
 * Takes the id in `<dataDir>/node`, or creates it. The file lock ends with the process. If another process on this directory uses
 * the id, or it cannot be stored or locked, this process gets an id for its own lifetime.
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
    // The disk is read-only, or the platform has no file locks. The gateway can run without both.
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
