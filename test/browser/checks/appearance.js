// The appearance and accessibility of every screen: screenshots in light and dark, wide and narrow, and the rules of
// axe.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readAxe } from '../support/chromium.js';
import { recordPages } from '../support/page-recorder.js';

const WIDTHS = [1440, 900, 360];
const THEMES = ['light', 'dark'];
/** How long a screen gets to load its data. The network is never idle, because of the live streams. */
const SETTLE_MS = 700;
const SERIOUS_IMPACTS = ['serious', 'critical'];

/**
 * @typedef {object} Appearance
 * @property {string[]} findings what axe rates as serious or critical
 * @property {string[]} broken exceptions, error notes on the screen, and violations of the page's policy
 * @property {string[]} tooWide
 * @property {string[]} requested the URL of every request
 * @property {string[]} consoleLines every line of the console
 * @property {number} pictures how many
 */

/**
 * @param {any} browser Playwright's
 * @param {object} what
 * @param {string} what.api
 * @param {object} [what.state] the storage state of a signed-in context; without it nobody is signed in
 * @param {string[]} what.paths paths below /dashboard/
 * @param {string} what.directory where the screenshots go
 * @param {Appearance} [all] what an earlier call found, to add to
 * @returns {Promise<Appearance>}
 */
export async function checkAppearance(browser, { api, state, paths, directory }, all = emptyAppearance()) {
  const axe = readAxe();
  const variants = WIDTHS.flatMap((width) => THEMES.map((colorScheme) => ({ width, colorScheme })));
  await Promise.all(variants.map(checkVariant));
  return all;

  /** @param {{ width: number, colorScheme: string }} variant */
  async function checkVariant({ width, colorScheme }) {
    const viewport = { width, height: width < 600 ? 740 : 800 };
    const context = await browser.newContext({ storageState: state, viewport, colorScheme });
    const { broken, requested, consoleLines } = await recordPages(context);
    const page = await context.newPage();
    const pictures = join(directory, `${colorScheme}-${width}`);
    mkdirSync(pictures, { recursive: true });
    for (const path of paths) {
      await page.goto(`${api}/dashboard/${path}`);
      await page.locator('h1').first().waitFor();
      await page.waitForTimeout(SETTLE_MS);
      await page.screenshot({ path: join(pictures, `${pictureName(path)}.png`), fullPage: true });
      all.pictures += 1;
      const failures = await page.locator('.note.error').allTextContents();
      all.broken.push(...failures.map((/** @type {string} */ text) => `${path}: ${text}`));
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (over > 0) all.tooWide.push(`${path} at ${width}: ${over} pixels too wide`);
      // Errors that axe itself causes are not the page's.
      const before = broken.length;
      const findings = await seriousFindings(page, axe);
      all.findings.push(...findings.map((finding) => `${path}, ${colorScheme}, ${width}: ${finding}`));
      broken.length = before;
    }
    all.broken.push(...broken);
    all.requested.push(...requested);
    all.consoleLines.push(...consoleLines);
    await context.close();
  }
}

/** @returns {Appearance} */
function emptyAppearance() {
  return { findings: [], broken: [], tooWide: [], requested: [], consoleLines: [], pictures: 0 };
}

/**
 * @param {any} page Playwright's
 * @param {string} axe
 * @returns {Promise<string[]>}
 */
async function seriousFindings(page, axe) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => /** @type {any} */ (globalThis).axe.run());
  return violations
    .filter((/** @type {any} */ { impact }) => SERIOUS_IMPACTS.includes(impact))
    .map((/** @type {any} */ { id, help, nodes }) => `${id} (${help}): ${nodes.map(htmlOf).slice(0, 3).join(' ')}`);
}

/** @param {{ html: string }} node */
function htmlOf({ html }) {
  return html.slice(0, 160);
}

/** @param {string} path */
function pictureName(path) {
  // Without ids, the names are the same in every run.
  return path.replace(/_[0-9A-Za-z]{20,}/g, '').replaceAll('/', '-');
}
