// Steps that make a static backend, with what the form and the API say of wrong addresses.

import { until } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/**
 * Makes a static backend of a service on this machine, which the operator of the gateway allows.
 * @param {PageDriver} driver
 * @param {(query: string, variables?: object) => Promise<any>} ask
 * @param {number} port of the service
 * @returns {Promise<{ url: string, id: string }>} its page
 */
export async function makeStatic({ page, at, button, heading }, ask, port) {
  await page.goto(at('edges/backends/static'));
  await page.getByRole('link', { name: 'New static backend' }).first().click();
  const address = page.getByLabel('Address', { exact: true });
  await address.fill('127.0.0.1');
  await button('Create the static backend').click();
  await page.getByText('A port belongs to the address').waitFor();
  await address.fill('10.0.0.1:80');
  await button('Create the static backend').click();
  await page.locator('.field-error').filter({ hasText: 'BACKEND_HOSTS of the gateway' }).waitFor();
  await address.fill(`127.0.0.1:${port}`);
  await page.getByLabel('Description').fill('without an agent');
  await button('Create the static backend').click();
  await heading('without an agent').waitFor();
  const url = page.url();
  const made = { url, id: url.slice(url.lastIndexOf('/') + 1) };
  for (const isTls of [true, false]) {
    await page.getByLabel('Connect with TLS').setChecked(isTls);
    await button('Save').click();
    const read = () => ask('query ($id: ID!) { backend: staticBackend(id: $id) { tls { enabled } } }', made);
    await until(async () => (await read()).backend.tls.enabled === isTls, 'the change is saved');
  }
  expectPromise('a static backend is made and changed; an address that is not allowed is refused at its field', true);
  return made;
}
