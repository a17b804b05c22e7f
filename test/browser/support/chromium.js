// The browser is Debian's Chromium. playwright-core drives it, and is installed when it is first needed.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder with the `package.json` of the browser's tools. */
const HOME = join(import.meta.dirname, '..');
const EXECUTABLES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * Starts the browser without a window.
 * @param {string[]} [more] further arguments
 * @returns {Promise<any>} Playwright's browser; undefined if Chromium is not installed.
 */
export async function openChromium(more = []) {
  const executablePath = EXECUTABLES.find((path) => path && existsSync(path));
  if (!executablePath) return undefined;
  install();
  // It is imported by its path, because only this folder has the package.
  const { chromium } = await import(join(HOME, 'node_modules/playwright-core/index.mjs'));
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--enable-precise-memory-info',
      '--js-flags=--expose-gc',
      // No other host name than localhost resolves: requests to other hosts are recorded and fail.
      '--host-resolver-rules=MAP *.tunnel.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      ...more,
    ],
  });
}

/** The source of axe-core, which the tests run in the page. */
export function readAxe() {
  return readFileSync(join(HOME, 'node_modules/axe-core/axe.min.js'), 'utf8');
}

function install() {
  const lock = join(HOME, 'package-lock.json');
  const stamp = join(HOME, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === readFileSync(lock, 'utf8')) return;
  process.stderr.write('Installing playwright-core and axe-core (npm ci in test/browser)\n');
  const args = ['ci', '--ignore-scripts', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: HOME, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('playwright-core and axe-core could not be installed');
  copyFileSync(lock, stamp);
}
