// How every screen looks, and whether everybody can use it: pictures in light and dark, wide and narrow, and axe.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readAxe } from './chromium.js';
import { watch } from './watch.js';

const WIDTHS = [1280, 360];
const THEMES = ['light', 'dark'];
/** Until what a screen asks for is there; live streams never let the network be idle. */
const SETTLE_MS = 700;
const GRAVE = ['serious', 'critical'];

/**
 * @typedef {object} Looks
 * @property {string[]} findings what axe says is serious
 * @property {string[]} broken exceptions, failures that are shown, and what the policy of the page forbade
 * @property {string[]} tooWide
 * @property {string[]} requested every URL that was asked for
 * @property {string[]} said every line of the console
 * @property {number} pictures how many
 */

/**
 * @param {any} browser Playwright's
 * @param {object} what
 * @param {string} what.api
 * @param {object} [what.state] what Playwright keeps of a signed-in context; a stranger has none
 * @param {string[]} what.places addresses below /dashboard/
 * @param {string} what.directory where pictures go
 * @param {Looks} [all] what was seen before
 * @returns {Promise<Looks>}
 */
export async function lookAtAll(browser, { api, state, places, directory }, all = noLooks()) {
  const axe = readAxe();
  const variants = WIDTHS.flatMap((width) => THEMES.map((colorScheme) => ({ width, colorScheme })));
  await Promise.all(variants.map(look));
  return all;

  /** @param {{ width: number, colorScheme: string }} variant */
  async function look({ width, colorScheme }) {
    const viewport = { width, height: width < 600 ? 740 : 800 };
    const context = await browser.newContext({ storageState: state, viewport, colorScheme });
    const { broken, requested, said } = await watch(context);
    const page = await context.newPage();
    const pictures = join(directory, `${colorScheme}-${width}`);
    mkdirSync(pictures, { recursive: true });
    for (const place of places) {
      await page.goto(`${api}/dashboard/${place}`);
      await page.locator('h1').first().waitFor();
      await page.waitForTimeout(SETTLE_MS);
      await page.screenshot({ path: join(pictures, `${nameOf(place)}.png`), fullPage: true });
      all.pictures += 1;
      const failures = await page.locator('.note.error').allTextContents();
      all.broken.push(...failures.map((/** @type {string} */ text) => `${place}: ${text}`));
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (over > 0) all.tooWide.push(`${place} at ${width}: ${over} pixels too wide`);
      // What axe itself does is not what the page does.
      const before = broken.length;
      const findings = await graveFindings(page, axe);
      all.findings.push(...findings.map((finding) => `${place}, ${colorScheme}, ${width}: ${finding}`));
      broken.length = before;
    }
    all.broken.push(...broken);
    all.requested.push(...requested);
    all.said.push(...said);
    await context.close();
  }
}

/** @returns {Looks} */
function noLooks() {
  return { findings: [], broken: [], tooWide: [], requested: [], said: [], pictures: 0 };
}

/**
 * @param {any} page Playwright's
 * @param {string} axe
 * @returns {Promise<string[]>}
 */
async function graveFindings(page, axe) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => /** @type {any} */ (globalThis).axe.run());
  return violations
    .filter((/** @type {any} */ { impact }) => GRAVE.includes(impact))
    .map((/** @type {any} */ { id, help, nodes }) => `${id} (${help}): ${nodes.map(htmlOf).slice(0, 3).join(' ')}`);
}

/** @param {{ html: string }} node */
function htmlOf({ html }) {
  return html.slice(0, 160);
}

/** @param {string} place */
function nameOf(place) {
  // Ids would name the picture otherwise in every run.
  return place.replace(/_[0-9A-Za-z]{20,}/g, '').replaceAll('/', '-');
}
