// The browser: Debian's own Chromium, driven by playwright-core, which is installed when it is first needed.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** @returns {Promise<any>} Playwright's browser; undefined where there is no Chromium. */
export async function openChromium() {
  const executablePath = PLACES.find((place) => place && existsSync(place));
  if (!executablePath) return undefined;
  install();
  // By its place, as only this directory has it.
  const { chromium } = await import(join(import.meta.dirname, 'node_modules/playwright-core/index.mjs'));
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
      // No other host has an address: what asks for one is seen, and gets nothing.
      '--host-resolver-rules=MAP *.tunnel.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  });
}

/** The text of axe-core, to be run in a page. */
export function readAxe() {
  return readFileSync(join(import.meta.dirname, 'node_modules/axe-core/axe.min.js'), 'utf8');
}

function install() {
  const lock = join(import.meta.dirname, 'package-lock.json');
  const stamp = join(import.meta.dirname, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === readFileSync(lock, 'utf8')) return;
  process.stderr.write('Installing playwright-core and axe-core (npm ci in test/browser)\n');
  const args = ['ci', '--ignore-scripts', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: import.meta.dirname, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('playwright-core and axe-core could not be installed');
  copyFileSync(lock, stamp);
}
