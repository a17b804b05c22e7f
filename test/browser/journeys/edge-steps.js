// Steps that make an edge in one go: its name, its labels, an agent for it, and a test of it.

import { isStillMarked, markPage } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

const HOST = 'shop.tunnel.localhost';
const COMMAND = 'labels 3000 --label app=shop';

/**
 * @param {PageDriver} driver
 * @param {(line: string, command: string) => void} start starts an agent with a line that was shown
 * @returns {Promise<string>} the URL of the page that leads from the edge to its first visitor
 */
export async function publishEdge(driver, start) {
  const { page, at, button, heading } = driver;
  await page.goto(at('edges/new'));
  await page.getByLabel('Name', { exact: true }).fill(HOST);
  await page.getByText('is free, and will be reserved').waitFor();
  const proposed = await page.getByPlaceholder('shop').inputValue();
  await button('Create the edge').click();
  await heading(`Start ${HOST}`).waitFor();
  await page.reload();
  await button('Test it').click();
  await page.getByText('The answer was 502').waitFor();
  expectPromise('a new edge has labels by its name, and a test says that nobody serves it', proposed === 'shop');

  await markPage(driver);
  await button('Make a credential for it').click();
  const line = (await page.locator('.secret .start-command code').first().textContent()).trim();
  await page.getByRole('button', { name: 'Copy the line that starts an agent' }).click();
  await button('I have kept it').click();
  start(line, COMMAND);
  await page.getByText('A tunnel is there.').waitFor();
  await button('Test it again').click();
  await page.getByText('answered').waitFor();
  const done = await page.locator('.step-list li.done').count();
  const isLive = await isStillMarked(driver);
  expectPromise('its agent is seen without a reload, and then the test gets its answer', done === 3 && isLive, [line]);
  const url = page.url();
  await page.getByRole('link', { name: 'Its requests' }).click();
  await page.getByRole('row').filter({ hasText: HOST }).first().waitFor();
  return url;
}
