// Installs the packages in node_modules. `npm ci` removes the existing ones first, even when it fails later. So it runs in a
// separate directory, whose packages replace the others when they are complete.

import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root, run } from './command.js';

/** The manifests that npm reads, relative to the root. */
export const MANIFESTS = ['package.json', 'package-lock.json', 'agent/package.json', 'src/protocol/package.json'];
/** What bundle.js cannot bundle, and package.js ships beside it: native code, and files that a package finds beside its own. */
export const UNBUNDLED = ['@electric-sql/pglite', '@node-rs/argon2', 'fs-native-extensions'];
/** Further files that npm needs. */
const FURTHER_FILES = ['.npmrc', 'src/boot/not-needed'];

const installed = join(root, 'node_modules');
const staging = join(root, 'dist/.installing');
const setAside = join(root, 'dist/.packages-before');

/**
 * Installs all packages. It includes development packages even with NODE_ENV=production, as tests need them.
 * @param {string} stamp a file that is created together with them; relative to the root.
 * @param {string} text the content of that file.
 * @returns {Promise<number>} npm's exit code. After a failure nothing has changed.
 */
export async function installPackages(stamp, text) {
  if (putBack(stamp, text)) return 0;
  rmSync(staging, { recursive: true, force: true });
  for (const file of [...MANIFESTS, ...FURTHER_FILES]) copy(file);
  const code = await run('npm', ['ci', '--include=dev', '--loglevel=warn'], { output: 'stderr', cwd: staging });
  if (code === 0) {
    writeFileSync(join(staging, stamp), text);
    if (existsSync(installed)) renameSync(installed, setAside);
    renameSync(join(staging, 'node_modules'), installed);
    rmSync(setAside, { recursive: true, force: true });
  }
  rmSync(staging, { recursive: true, force: true });
  return code;
}

/**
 * Restores the packages of a process that died between the two renames.
 * @param {string} stamp
 * @param {string} text
 * @returns {boolean} whether the packages are up to date.
 */
function putBack(stamp, text) {
  if (!existsSync(setAside)) return false;
  if (existsSync(installed)) rmSync(setAside, { recursive: true });
  else renameSync(setAside, installed);
  return existsSync(join(root, stamp)) && readFileSync(join(root, stamp), 'utf8') === text;
}

/** @param {string} file */
function copy(file) {
  if (!existsSync(join(root, file))) return;
  mkdirSync(dirname(join(staging, file)), { recursive: true });
  cpSync(join(root, file), join(staging, file), { recursive: true });
}

/** Whether all runtime packages are installed, by this script or by `npm ci --omit=dev`. */
export function hasWhatRuns() {
  try {
    const wanted = packagesOf('package-lock.json');
    const found = packagesOf('node_modules/.package-lock.json');
    return Object.entries(wanted).every(
      ([path, { version, dev, devOptional, optional, link }]) =>
        path === '' || dev || devOptional || optional || link || found[path]?.version === version,
    );
  } catch {
    return false; // There is none of the two.
  }
}

/**
 * @typedef {{ version?: string, dev?: boolean, devOptional?: boolean, optional?: boolean, link?: boolean }} Package
 * @param {string} lockFile
 * @returns {Record<string, Package>}
 */
const packagesOf = (lockFile) => JSON.parse(readFileSync(join(root, lockFile), 'utf8')).packages;
