// Programs of tests that run as processes of their own. Node of this version runs no TypeScript: each becomes one file.

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { root } from './root.ts';

/**
 * Bundles a program with all that it imports from the repository.
 * @param entry the TypeScript file, from the repository's root.
 * @param name of the file that is made, in `dist/soak`.
 * @returns its path.
 */
export async function bundle(entry: string, name: string): Promise<string> {
  const outfile = join(root, 'dist/soak', name);
  await mkdir(dirname(outfile), { recursive: true });
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    packages: 'external',
    alias: { '@gateway/protocol': join(root, 'src/protocol/index.ts') },
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
  });
  return outfile;
}
