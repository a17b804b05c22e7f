// Finds the file that a path of a URL names, inside of one directory.

import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** The path cannot be decoded. */
export class BadPath extends Error {}

/** The names in a path. @throws {BadPath} when it is not percent-encoded UTF-8, or has a NUL. */
export function namesIn(path: string): string[] {
  try {
    const text = decodeURIComponent(path);
    if (!text.includes('\0')) return text.split('/').filter((name) => name !== '');
  } catch {
    // Told below.
  }
  throw new BadPath();
}

/** Hidden names, and with them `..`; those of RFC 8615 are public. A backslash separates names on Windows. */
const isHidden = (name: string) => (name.startsWith('.') && name !== '.well-known') || /[\\:]/.test(name);

/**
 * Opens a file or a directory.
 * @param root the directory, without symbolic links. @param names as `namesIn` returns them.
 * @returns null when there is none, it is hidden, it cannot be read, or symbolic links lead out of the root.
 */
export async function openInside(root: string, names: string[]): Promise<FileHandle | null> {
  if (names.some(isHidden)) return null;
  try {
    const path = await realpath(join(root, ...names));
    const inside = relative(root, path).split(sep);
    if (path !== root && inside.some(isHidden)) return null;
    // Without blocking: nobody may write to a FIFO. The last name is no link any more.
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}
