// The files of the built dashboard with their compressed copies, and the texts of its operations. They are read once,
// at the start: a build that replaces them does not mix old and new files.

import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { type CachedBody, encodedBody } from '../http/cached-body.ts';

export interface StoredFile extends CachedBody {
  /** Whether its name contains a hash of its content, so that clients may cache it for good. */
  isImmutable: boolean;
}

export interface Dashboard {
  /**
   * The files by their paths below `/dashboard/`: `index.html`, `assets/…`. It is empty if the dashboard was not built.
   */
  files: ReadonlyMap<string, StoredFile>;
  /** The texts of the operations by their SHA-256 in hex. */
  operations: ReadonlyMap<string, string>;
}

const OPERATIONS = 'operations.json';
const SUFFIXES = { br: '.br', gzip: '.gz' } as const;

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/**
 * Reads the built dashboard.
 * @param directory the output of the build; undefined or missing if the dashboard was not built.
 */
export async function readDashboard(directory: string | undefined): Promise<Dashboard> {
  const names = directory === undefined ? [] : await filesUnder(directory);
  const read = (name: string) => readFile(join(directory ?? '', name));
  const isServed = (name: string) => !name.startsWith('.') && name !== OPERATIONS && !/\.(br|gz)$/.test(name);
  const files = await Promise.all(
    names.filter(isServed).map(async (name): Promise<[string, StoredFile]> => {
      const copies: StoredFile['encodings'] = { identity: encodedBody(await read(name)) };
      for (const [coding, suffix] of Object.entries(SUFFIXES) as [keyof typeof SUFFIXES, string][])
        if (names.includes(name + suffix)) copies[coding] = encodedBody(await read(name + suffix));
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      return [name.split(sep).join('/'), { type, isImmutable: name.startsWith(`assets${sep}`), encodings: copies }];
    }),
  );
  const texts = names.includes(OPERATIONS) ? JSON.parse((await read(OPERATIONS)).toString('utf8')) : {};
  return { files: new Map(files), operations: new Map(Object.entries(texts as Record<string, string>)) };
}

async function filesUnder(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  return entries.flatMap((entry) => (entry.isFile() ? relative(directory, join(entry.parentPath, entry.name)) : []));
}
