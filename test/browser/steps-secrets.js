// What is shown once: an API key, an authtoken. And how a credential ends.

import { said } from './said.js';

/** @typedef {import('./hand.js').Hand} Hand */

const CREDENTIAL = 'credential of the walk';

/**
 * Makes an API key. @param {Hand} hand
 * @param {(key: string) => Promise<unknown>} use fails when it doesn't work
 */
export async function makeApiKey({ page, button, heading, go }, use) {
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
  said('an API key is shown once, works, and does not come back', isGone && !(await page.content()).includes(key));
  return key;
}

/** Makes a credential. @param {Hand} hand */
export async function makeCredential({ page, button, heading, go }) {
  await go('Credentials');
  await page.getByRole('link', { name: 'New credential' }).first().click();
  await page.getByLabel('Description').fill(CREDENTIAL);
  await button('Create the credential').click();
  const line = (await page.locator('.start-line code').textContent()).trim();
  const authtoken = await secretOn(page);
  await button('I have kept it').click();
  await heading(CREDENTIAL).waitFor();
  said('a credential is made, with the line that starts an agent', line.includes(authtoken), [line]);
  return { line, authtoken, url: page.url() };
}

/**
 * Deletes the credential. @param {Hand} hand
 * @param {string} url
 */
export async function deleteCredential({ page, at, button }, url) {
  await page.goto(url);
  await button('Delete').click();
  await page.getByRole('dialog').getByRole('textbox').fill(CREDENTIAL);
  await button('Delete the credential').click();
  await page.waitForURL(at('credentials'));
  await page.getByRole('row').filter({ hasText: 'first agent' }).waitFor();
  said('the credential is deleted', (await page.getByText(CREDENTIAL).count()) === 0);
}

/** @param {any} page @returns {Promise<string>} */
async function secretOn(page) {
  return (await page.locator('.secret code').first().textContent()).trim();
}
