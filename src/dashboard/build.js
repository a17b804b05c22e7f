// `node src/dashboard/build.js` builds the dashboard into dist/dashboard. File names contain content hashes, files are
// compressed in advance, and nothing in them violates a strict Content-Security-Policy.

import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { generate } from './codegen.js';

const here = dirname(fileURLToPath(import.meta.url));

/** The default output directory. */
export const defaultOutput = resolve(here, '../../dist/dashboard');

/** The types of files worth compressing; the server sends the others as they are. */
const TEXTS = new Set(['.css', '.html', '.js', '.svg', '.txt']);

/**
 * Builds the dashboard together with the texts of its operations. It replaces the previous build only at the end, so
 * that a failed build leaves that one in place.
 * @param {string} [output] the output directory, absolute.
 * @throws {Error} with the location of the mistake.
 */
export async function buildDashboard(output = defaultOutput) {
  const operations = await generate();
  const draft = `${output}.${process.pid}`;
  try {
    await build(settings(draft));
    const files = await readdir(draft, { recursive: true });
    await Promise.all(files.filter((file) => TEXTS.has(extname(file))).map((file) => compress(join(draft, file))));
    await writeFile(join(draft, 'operations.json'), JSON.stringify(operations));
    await rm(output, { recursive: true, force: true });
    await rename(draft, output);
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
    // An asset within a script or style would be a `data:` URL, which the policy allows for images only.
    assetsInlineLimit: 0,
    // Every supported browser preloads modules itself.
    modulePreload: { polyfill: false },
    // These browsers know light-dark(). Its fallback in older ones would not follow a change of the theme on the page.
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
  const [, , output = defaultOutput] = process.argv;
  try {
    await buildDashboard(resolve(output));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
