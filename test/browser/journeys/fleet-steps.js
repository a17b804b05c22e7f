// Steps on the fleet: a device is provisioned by a key, is found in the fleet, named, and told to start anew.

import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

const DEVICE = 'press-7';

/**
 * @param {PageDriver} driver
 * @param {(line: string, name: string) => void} start starts a device that has the line of an image
 */
export async function provisionDevice({ page, button, heading, go, at }, start) {
  await page.goto(at('agents/keys/new'));
  await page.getByLabel('Description').fill('presses of the walk');
  await button('Create the provisioning key').click();
  const line = (await page.locator('.start-command code').first().textContent()).trim();
  await page.getByRole('button', { name: 'Copy the line that installs a service' }).click();
  await button('I have kept it').click();
  await heading('presses of the walk').waitFor();
  start(line, DEVICE);
  await page.getByRole('table', { name: 'Credentials of devices' }).getByText(DEVICE).waitFor();
  await go('Agents');
  await page.getByLabel('Find agents by words').fill('PRESS');
  await page.getByRole('table').getByRole('link', { name: DEVICE }).click();
  await heading(DEVICE).waitFor();
  await button('Name and labels').click();
  await page.getByLabel('Name', { exact: true }).fill('Press at the gate');
  await button('Save').click();
  await heading('Press at the gate').waitFor();
  await button('Command …').click();
  await page.getByRole('dialog').getByRole('textbox').fill('Press at the gate');
  await button('Send the command').click();
  await page.getByText('1 of 1 agents agreed').waitFor();
  await button('Close').last().click();
  await page.getByText('it was told to start anew through the API').first().waitFor();
  expectPromise('a device is provisioned by its key, found in the fleet, named, and told to start anew', true);
}
