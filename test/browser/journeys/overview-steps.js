// Steps on the overview: the first steps of a new account, an endpoint that begins to fail, and the charts.

import { isStillMarked, markPage } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';
import { visit } from '../support/visit.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/** Figures are counted in steps of 10 s, and looked at after each; the rest is for a slow machine. */
const FAILING_MS = 60_000;
const FAILING_VISITS = 30;

/** A new account is shown what to do. @param {PageDriver} driver */
export async function seeFirstSteps({ page, heading }) {
  await heading('First steps').waitFor();
  const next = page.locator('.step-list li[aria-current=step]');
  await next.getByText('Run an agent').waitFor();
  const line = await next.locator('.start-command code').first().textContent();
  const isComplete = line.includes('GATEWAY_ADDR=') && (await page.locator('.counts').count()) === 0;
  expectPromise('a new account is shown its first steps in place of figures, with the line to copy', isComplete, [
    line,
  ]);
}

/** What was done since is ticked, and the rest can be put away. @param {PageDriver} driver */
export async function seeStepsTicked({ page, button, heading, go }) {
  await go('Overview');
  const done = page.locator('.step-list li.done');
  await done.getByText('Visit it').waitFor();
  await page.getByRole('link', { name: /^1 live$/ }).waitFor();
  expectPromise('the steps that were done are ticked, beside the figures', (await done.count()) === 3);
  await button('Don’t show this any more').click();
  await heading('First steps').waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('link', { name: /^1 live$/ }).waitFor();
  expectPromise('first steps that were put away stay away', (await heading('First steps').count()) === 0);
}

/**
 * Makes an endpoint fail, watches it on the overview, and follows the links to a request that failed. Capture is on.
 * @param {PageDriver} driver
 * @param {string} address of the endpoint
 * @param {{ fail(isFailing: boolean): void }} upstream
 */
export async function watchEndpointFail(driver, address, upstream) {
  const { page, go } = driver;
  await go('Overview');
  await page.getByRole('link', { name: / failing$/ }).waitFor();
  await markPage(driver);
  upstream.fail(true);
  for (let number = 0; number < FAILING_VISITS; number += 1) await visit(address, '/broken');
  upstream.fail(false);
  const problem = page
    .getByRole('list', { name: 'What needs a look' })
    .getByRole('listitem')
    .filter({ hasText: address });
  await problem.getByText(/requests failed/).waitFor({ timeout: FAILING_MS });
  await problem.getByText(/^for \d/).waitFor();
  await page.getByRole('link', { name: /^[1-9] failing$/ }).waitFor();
  expectPromise(
    'an endpoint that begins to fail is shown failing, and since when, without a reload',
    await isStillMarked(driver),
  );
  await problem.getByRole('link').click();
  await page.getByText(/It has been failing for/).waitFor();
  await page.getByRole('link', { name: 'Look at its requests' }).click();
  await page.getByRole('row').filter({ hasText: '/broken' }).first().getByRole('link').first().click();
  await page.getByText('500').first().waitFor();
  expectPromise('why it fails is three clicks away: a request that was answered with 500', await isStillMarked(driver));
}

/** Looks at charts: by keyboard, as a table, and of another time. @param {PageDriver} driver */
export async function readCharts({ page, at, go, button }) {
  await go('Overview');
  const chart = page.getByRole('slider', { name: 'Requests by status over time' });
  await chart.locator('canvas').waitFor();
  const newest = await chart.getAttribute('aria-valuetext');
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  const earlier = await chart.getAttribute('aria-valuetext');
  const isRead = /5xx/.test(earlier) && earlier !== newest;
  expectPromise('a chart tells its values to the keyboard and to screen readers', isRead, [newest, earlier]);
  await button('Show as table: Requests by status').click();
  await page.getByRole('table', { name: 'Requests by status' }).getByRole('row').nth(1).waitFor();
  expectPromise('the values of a chart are shown as a table', true);
  const range = page.getByRole('combobox', { name: 'Time range' });
  await range.selectOption('Last 6 hours');
  await page.waitForURL(at('overview?range=6h'));
  await page.reload();
  await chart.locator('canvas').waitFor();
  expectPromise('the time range of charts is in the URL', (await range.inputValue()) === '6h');
}
