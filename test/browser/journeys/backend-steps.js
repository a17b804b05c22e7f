// Steps that make, change and delete HTTP responses, failover backends and weighted backends.

import { until } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */
/** @typedef {(query: string, variables?: object) => Promise<any>} Ask */
/** @typedef {{ url: string, id: string }} Made the page of a backend */

const READ = 'query ($id: ID!) { backend: weightedBackend(id: $id) { backends } }';

/** @param {PageDriver} driver @returns {Made} what the page that is shown is about */
function shown({ page }) {
  const url = page.url();
  return { url, id: url.slice(url.lastIndexOf('/') + 1) };
}

/** @param {PageDriver} driver @returns {Promise<Made>} */
export async function makeResponse(driver) {
  const { page, at, button, heading } = driver;
  await page.goto(at('edges/backends/responses'));
  await page.getByRole('link', { name: 'New HTTP response' }).first().click();
  const status = page.getByLabel('Status', { exact: true });
  await status.fill('99');
  await button('Create the HTTP response').click();
  await page.getByText('This must be at least 200.').waitFor();
  await status.fill('204');
  await page.getByLabel('Body', { exact: true }).fill('The shop is shut.');
  await page.getByText('A response of status 204 has no body.').waitFor();
  await status.fill('503');
  await button('Add a header field').click();
  await page.getByLabel('Name of header field 1').fill('retry-after');
  await page.getByLabel('Value of header field 1').fill('60');
  await page.getByLabel('Description').fill('closed');
  await page.reload();
  await page.getByText('What you typed here before was restored').waitFor();
  await button('Create the HTTP response').click();
  await heading('closed').waitFor();
  await page.getByLabel('Body', { exact: true }).fill('The shop is closed.');
  await button('Save').click();
  await page.getByText('The HTTP response is changed.').waitFor();
  expectPromise('an HTTP response is made out of a draft, with its mistakes at their fields, and changed', true);
  return shown(driver);
}

/** Makes one, and its tunnel group in a dialog; the order is set by keyboard. @param {PageDriver} driver @param {Ask} ask @returns {Promise<Made>} */
export async function makeFailover(driver, ask) {
  const { page, at, button, heading } = driver;
  await page.goto(at('edges/backends/failover/new'));
  await button('Create the failover backend').click();
  await page.getByText('Choose at least one backend, or make a new one.').waitFor();
  await page.getByLabel('Backends, in the order').selectOption({ label: 'closed (HTTP response)' });
  await button('New backend').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Key of label 1').fill('app');
  await dialog.getByLabel('Value of label 1').fill('shop');
  await dialog.getByRole('button', { name: 'Create the tunnel group' }).click();
  const up = button('Move app=shop up');
  await up.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('listitem').filter({ hasText: '1. app=shop' }).waitFor();
  const isFocused = await up.evaluate((/** @type {Element} */ element) => element === document.activeElement);
  await page.getByLabel('Description').fill('open, or else closed');
  await button('Create the failover backend').click();
  await heading('open, or else closed').waitFor();
  const made = shown(driver);
  const { backend } = await ask('query ($id: ID!) { backend: failoverBackend(id: $id) { backends } }', made);
  const kinds = backend.backends.map((/** @type {string} */ id) => id.split('_')[0]).join();
  expectPromise(
    'a failover backend is made with a tunnel group of its own, and put into order by keyboard without losing the focus',
    kinds === 'bkdtg,bkdhr' && isFocused,
    [kinds],
  );
  return made;
}

/** @param {PageDriver} driver @returns {Promise<Made>} */
export async function makeWeighted(driver) {
  const { page, at, button, heading } = driver;
  await page.goto(at('edges/backends/weighted/new'));
  const backends = page.getByLabel('Backends', { exact: true });
  await backends.selectOption({ label: 'app=shop' });
  await backends.selectOption({ label: 'closed (HTTP response)' });
  const [open, closed] = weights(driver);
  await open?.fill('10001');
  await closed?.fill('50');
  await button('Create the weighted backend').click();
  await page.getByText('The weight of number 1: This must be at most 10000.').waitFor();
  await open?.fill('25');
  const row = (/** @type {string} */ text) => page.locator('.picked li').filter({ hasText: text });
  await row('app=shop').filter({ hasText: '33.3 %' }).waitFor();
  await row('closed').filter({ hasText: '66.7 %' }).waitFor();
  await open?.fill('0');
  await row('closed').filter({ hasText: '100 %' }).waitFor();
  await page.getByLabel('Description').fill('some');
  await button('Create the weighted backend').click();
  await heading('some').waitFor();
  expectPromise('a weighted backend shows the shares that its weights make', true);
  return shown(driver);
}

/** @param {PageDriver} driver */
function weights({ page }) {
  return ['app=shop', 'closed (HTTP response)'].map((title) => page.getByLabel(`Weight of ${title}`));
}

/**
 * Changes weights while somebody else does, removes and adds members, and tries what the API refuses.
 * @param {PageDriver} driver
 * @param {object} with_
 * @param {Ask} with_.ask
 * @param {(text: string) => Promise<void>} with_.answers waits until visitors get it
 * @param {Made} with_.response
 * @param {Made} with_.failover
 * @param {Made} with_.weighted
 */
export async function changeBackends(driver, { ask, answers, response, failover, weighted }) {
  const { page, button } = driver;
  await page.goto(weighted.url);
  const [open, closed] = weights(driver);
  await open?.fill('1');
  const { backend } = await ask(READ, weighted);
  const [group] = Object.keys(backend.backends);
  const change =
    'mutation ($id: ID!, $backends: Weights) { updateWeightedBackend(id: $id, input: { backends: $backends }) { weightedBackend { id } } }';
  await ask(change, { id: weighted.id, backends: { [group ?? '']: 7, [response.id]: 50 } });
  const conflict = page.getByRole('region', { name: 'Backends' });
  await conflict.getByText('app=shop: 7').waitFor();
  await conflict.getByText('app=shop: 1').waitFor();
  await button('Keep mine: Backends').click();
  await button('Save').click();
  await page.getByText('The weighted backend is changed.').waitFor();
  await closed?.fill('0');
  await button('Save').click();
  await answers('seen GET');
  expectPromise('the change of somebody else is shown in words before weights are saved; visitors follow them', true);

  await page.getByLabel('Backends', { exact: true }).selectOption({ label: 'open, or else closed (failover backend)' });
  await button('Remove closed (HTTP response)').click();
  await button('Save').click();
  const isNested = async () => failover.id in (await ask(READ, weighted)).backend.backends;
  await until(isNested, 'the failover backend is one of its members');
  await page.goto(failover.url);
  await page.getByLabel('Backends, in the order').selectOption({ label: 'some (weighted backend)' });
  await button('Save').click();
  const refusal = page.locator('.field-error').filter({ hasText: 'must not lead to itself' });
  await refusal.waitFor();
  await button('Remove some (weighted backend)').click();
  await refusal.waitFor({ state: 'detached' });
  await button('Move closed (HTTP response) up').click();
  await button('Save').click();
  await page.getByText('The failover backend is changed.').waitFor();
  expectPromise('what the API refuses stands at the field until that is changed', true);
}

/**
 * Deletes backends, those that lead to others first.
 * @param {PageDriver} driver
 * @param {object} with_
 * @param {Ask} with_.ask
 * @param {string} with_.route the URL of the page of the route that uses the first
 * @param {readonly Made[]} with_.all
 */
export async function deleteBackends({ page, button }, { ask, route, all }) {
  const [first] = all;
  const confirm = async (/** @type {Made} */ { url }) => {
    await page.goto(url);
    await button('Delete').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill(await page.locator('h1').first().textContent());
    await dialog.getByRole('button', { name: /^Delete the / }).click();
  };
  if (first) await confirm(first);
  await page.getByText('The backend is still used by an edge, a route or another backend').waitFor();
  const [, edgeId, id] = /https\/([^/]+)\/routes\/([^/]+)$/.exec(route) ?? [];
  await ask(
    'mutation ($edgeId: ID!, $id: ID!) { deleteHttpsEdgeRoute(edgeId: $edgeId, id: $id) { deletedHttpsEdgeRouteId } }',
    { edgeId, id },
  );
  for (const backend of all) {
    await confirm(backend);
    await page
      .getByText(/^The (weighted backend|failover backend|HTTP response|static backend) is deleted\.$/)
      .waitFor();
    await page
      .getByRole('heading', { name: /^(Weighted backends|Failover backends|HTTP responses|Static backends)$/ })
      .waitFor();
  }
  expectPromise('backends are deleted by their name, but not while they are used', true);
}
