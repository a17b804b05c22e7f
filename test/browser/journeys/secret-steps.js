// Steps around secrets that are shown once: an API key and an authtoken.

import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

const CREDENTIAL = 'credential of the walk';

/**
 * Creates an API key. @param {PageDriver} driver
 * @param {(key: string) => Promise<unknown>} use uses the key, and rejects if it does not work
 */
export async function createApiKey({ page, button, heading, go }, use) {
  await go('Access');
  await page.getByRole('link', { name: 'New API key' }).first().click();
  await page.getByLabel('Description').fill('key of the walk');
  await button('Create the API key').click();
  const key = await secretOn(page);
  await use(key);
  await button('I have kept it').click();
  await heading('key of the walk').waitFor();
  const isGone = !(await page.content()).includes(key);
  await page.goBack();
  await page.locator('h1').waitFor();
  expectPromise('an API key works and is shown only once', isGone && !(await page.content()).includes(key));
  return key;
}

/** Creates a credential. @param {PageDriver} driver */
export async function createCredential({ page, button, heading, go }) {
  await go('Credentials');
  await page.getByRole('link', { name: 'New credential' }).first().click();
  await page.getByLabel('Description').fill(CREDENTIAL);
  await button('Create the credential').click();
  const line = (await page.locator('.start-command code').first().textContent()).trim();
  const authtoken = await secretOn(page);
  await button('I have kept it').click();
  await heading(CREDENTIAL).waitFor();
  expectPromise('a new credential is shown with the command that starts an agent', line.includes(authtoken), [line]);
  return { line, authtoken, url: page.url() };
}

/**
 * Deletes the credential. @param {PageDriver} driver
 * @param {string} url
 */
export async function deleteCredential({ page, at, button }, url) {
  await page.goto(url);
  await button('Delete').click();
  await page.getByRole('dialog').getByRole('textbox').fill(CREDENTIAL);
  await button('Delete the credential').click();
  await page.waitForURL(at('credentials'));
  await page.getByRole('row').filter({ hasText: 'first agent' }).waitFor();
  expectPromise('a deleted credential is no longer listed', (await page.getByText(CREDENTIAL).count()) === 0);
}

/** @param {any} page @returns {Promise<string>} */
async function secretOn(page) {
  return (await page.locator('.secret code').first().textContent()).trim();
}
