// `npm run build -w agent`: the agent in one file, dist/agent.js, that needs nothing but Node beside it.

import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

/** What the agent uses of `yaml`. */
const YAML_NAMES = 'isMap, isPair, isScalar, isSeq, LineCounter, parseDocument';

/** Where the bundle goes when nobody says otherwise. */
export const bundleFile = join(here, 'dist/agent.js');

/**
 * Few agents have a configuration file, and every one would keep the source of the YAML parser in memory: it becomes a text
 * of a tenth of the size, which is unpacked where it is imported.
 * @type {import('esbuild').Plugin}
 */
const yamlOnDemand = {
  name: 'yaml-on-demand',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^yaml$/ }, () => ({ path: 'yaml', namespace: 'packed' }));
    onLoad({ filter: /^yaml$/, namespace: 'packed' }, async () => {
      const { outputFiles } = await build({
        stdin: { contents: `export { ${YAML_NAMES} } from 'yaml'`, resolveDir: here },
        bundle: true,
        write: false,
        minify: true,
        platform: 'neutral', // Its build for Node is CommonJS.
        target: 'node20',
        format: 'esm',
      });
      const packed = brotliCompressSync(outputFiles[0]?.contents ?? '').toString('base64');
      return {
        contents: `const { brotliDecompressSync } = await import('node:zlib');
          const source = brotliDecompressSync(Buffer.from('${packed}', 'base64')).toString('base64');
          export const { ${YAML_NAMES} } = await import('data:text/javascript;base64,' + source);`,
      };
    });
  },
};

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
    plugins: [yamlOnDemand],
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
