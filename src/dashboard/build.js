// `node src/dashboard/build.js`: the dashboard as dist/dashboard serves it. Named by their hashes, compressed already, and
// nothing in them that a strict Content-Security-Policy refuses.

import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { generate } from './codegen.js';

const here = dirname(fileURLToPath(import.meta.url));

/** Where the dashboard goes when nobody says otherwise. */
export const usualPlace = resolve(here, '../../dist/dashboard');

/** What is worth compressing; the server sends what has no compressed copy as it is. */
const TEXTS = new Set(['.css', '.html', '.js', '.svg', '.txt']);

/**
 * Builds the dashboard, with the texts of its operations beside it. What was there before is replaced at the end: a
 * mistake leaves it.
 * @param {string} [place] absolute.
 * @throws {Error} that says where the mistake is.
 */
export async function buildDashboard(place = usualPlace) {
  const operations = await generate();
  const draft = `${place}.${process.pid}`;
  try {
    await build(settings(draft));
    const files = await readdir(draft, { recursive: true });
    await Promise.all(files.filter((file) => TEXTS.has(extname(file))).map((file) => compress(join(draft, file))));
    await writeFile(join(draft, 'operations.json'), JSON.stringify(operations));
    await rm(place, { recursive: true, force: true });
    await rename(draft, place);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * @param {string} outDir
 * @returns {import('vite').InlineConfig}
 */
const settings = (outDir) => ({
  configFile: false,
  envDir: false,
  root: here,
  base: '/dashboard/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir,
    emptyOutDir: true,
    // An asset inside a script or style would be a `data:` URL, which the policy only lets images be.
    assetsInlineLimit: 0,
    // Every browser that runs the rest does this by itself.
    modulePreload: { polyfill: false },
    // Those that know light-dark(): what stands in for it elsewhere does not follow a switch on the page.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      onLog(level, log, handle) {
        if (level === 'warn') throw new Error(log.message);
        handle(level, log);
      },
    },
  },
});

/** @param {string} file */
async function compress(file) {
  const bytes = await readFile(file);
  const [brotli, zipped] = await Promise.all([
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${file}.br`, brotli), writeFile(`${file}.gz`, zipped)]);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [, , place = usualPlace] = process.argv;
  try {
    await buildDashboard(resolve(place));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
