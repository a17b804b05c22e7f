// `npm run build -w agent`: the agent in one file, dist/agent.js, that needs nothing but Node beside it.

import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

/** Where the bundle goes when nobody says otherwise. */
export const bundleFile = join(here, 'dist/agent.js');

/**
 * Bundles the agent, with the protocol inside. The file appears whole: an agent may be starting from it meanwhile.
 * @param {string} [file] absolute.
 */
export async function bundle(file = bundleFile) {
  const { outputFiles } = await build({
    entryPoints: [join(here, 'src/main.ts')],
    outfile: file,
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: { js: '#!/usr/bin/env node' },
    legalComments: 'none',
    logLevel: 'warning',
  });
  const [output] = outputFiles;
  if (!output) throw new Error('the bundler made nothing');
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, output.contents, { mode: 0o755 });
  await rename(draft, file);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await bundle();
