// The packages of node_modules. `npm ci` removes them before it knows whether it can have others: it works in a directory
// beside, and what it made takes their place when it is whole.

import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root, run } from './command.js';

/** What npm reads, relative to the root. */
export const MANIFESTS = ['package.json', 'package-lock.json', 'agent/package.json', 'src/protocol/package.json'];
/** Further files that it wants to find. */
const BESIDE = ['.npmrc', 'src/boot/not-needed'];

const installed = join(root, 'node_modules');
const staging = join(root, 'dist/.installing');
const setAside = join(root, 'dist/.packages-before');

/**
 * Installs packages, development packages too, wherever NODE_ENV says production: tests need them.
 * @param {string} stamp a file that appears together with them; relative to the root.
 * @param {string} text what is in it.
 * @returns {Promise<number>} npm's exit code: if it is not 0, everything is as it was.
 */
export async function installPackages(stamp, text) {
  if (putBack(stamp, text)) return 0;
  rmSync(staging, { recursive: true, force: true });
  for (const file of [...MANIFESTS, ...BESIDE]) copy(file);
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
 * A process that died between the two renames left the packages aside.
 * @param {string} stamp
 * @param {string} text
 * @returns {boolean} whether they are what is wanted.
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

/** Whether all packages are there that the gateway runs with, whoever installed them: `npm ci --omit=dev` does it, too. */
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
