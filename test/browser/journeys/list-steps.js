// Steps on a long list: filtered by chips, ordered, kept as a view, exported, and changed in bulk.

import { readFile } from 'node:fs/promises';
import { until } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */
/** @typedef {(query: string, variables?: object) => Promise<any>} Ask */

/** More than a page of the API holds. */
const GATES = 120;
const DOORS = 15;

/** Makes credentials of two sorts, and a bot user that may hold them. @param {Ask} ask */
export async function makeManyCredentials(ask) {
  for (let index = 1; index <= GATES + DOORS; index += 1) {
    const description = index <= GATES ? `gate ${index}` : `door ${index}`;
    await ask('mutation ($d: String!) { createCredential(input: { description: $d }) { credential { id } } }', {
      d: description,
    });
  }
  await ask('mutation { createBotUser(input: { name: "keeper" }) { botUser { id } } }');
}

/** A filter is built, stands in the URL, and comes back after a reload and by the back button. @param {PageDriver} driver */
export async function filterList(driver) {
  const { page, at, button } = driver;
  await page.goto(at('credentials'));
  const table = page.getByRole('table', { name: 'Credentials' });
  await table.getByRole('row').nth(1).waitFor();
  await button('Add a filter').click();
  const editor = page.getByRole('region', { name: 'New filter' });
  await editor.getByLabel('Of each row').selectOption('description');
  await editor.getByLabel('Condition').selectOption('contains');
  await editor.getByLabel('Value').fill('gate');
  await button('Add the filter').click();
  await footer(driver, `${GATES} of `).waitFor();
  const url = page.url();
  await page.reload();
  await footer(driver, `${GATES} of `).waitFor();
  const isKept = page.url() === url && new URL(url).searchParams.get('filter') === 'obj.description.contains("gate")';
  expectPromise('a filter by a chip is in the URL, and a reload keeps it', isKept, [url]);

  await page.getByLabel('Find credentials by words').fill('12 GATE');
  await footer(driver, '3 of ').waitFor();
  await button('Clear').click();
  await table.getByText(`door ${GATES + DOORS}`).waitFor();
  await page.goBack();
  await footer(driver, '3 of ').waitFor();
  await page.goBack();
  await page.goForward();
  await button('Filter as text').click();
  await page.getByLabel('Filter in CEL').fill('obj.nothing == 1');
  await button('Apply').click();
  await page.getByRole('alert').filter({ hasText: 'names nothing' }).waitFor();
  await page.goBack();
  expectPromise('words in any order narrow it, back and forward follow, and a mistake is told at the field', true);
  await page.goto(url);
}

/** The order is that of a column, and of the URL. @param {PageDriver} driver */
export async function sortList({ page }) {
  const header = page.getByRole('columnheader', { name: /Description/ });
  await header.getByRole('button').click();
  const first = page.getByRole('table', { name: 'Credentials' }).getByRole('rowheader').first();
  await until(async () => (await first.textContent()) === 'gate 1', 'the first row is gate 1');
  await header.getByRole('button').press('Enter');
  await until(async () => (await first.textContent()) === 'gate 99', 'the first row is gate 99');
  const [direction, order] = [await header.getAttribute('aria-sort'), new URL(page.url()).searchParams.get('order')];
  expectPromise(
    'a column title sorts up and down, by keyboard too',
    direction === 'descending' && order === 'description desc',
    [`${direction} ${order}`],
  );
}

/** A view is saved, and shown again. @param {PageDriver} driver */
export async function saveListView({ page, at, button }) {
  const url = page.url();
  await button('Views').click();
  await page.getByLabel('Name of the view').fill('Gates');
  await button('Save').click();
  await page.goto(at('credentials'));
  await button('Views').click();
  await button('Gates').click();
  await until(() => page.url() === url, 'the saved view leads back to its filter and order');
  const first = page.getByRole('table', { name: 'Credentials' }).getByRole('rowheader').first();
  await until(async () => (await first.textContent()) === 'gate 99', 'the first row is gate 99');
  expectPromise('a saved view brings back the filter and the order', true);
}

/** An export has what the list shows. @param {PageDriver} driver */
export async function exportList({ page, button }) {
  await button('Export').click();
  const downloads = page.waitForEvent('download');
  await button('JSON lines').click();
  const lines = (await readFile(await (await downloads).path(), 'utf8')).trim().split('\n');
  const descriptions = lines.map((line) => JSON.parse(line).description);
  expectPromise(
    'an export has as many lines as the list says, in its order',
    lines.length === GATES && descriptions[0] === 'gate 99',
    [`${lines.length} lines, ${descriptions[0]} first`],
  );
}

/** All that match a filter get another holder, are seen in the audit trail, and it is undone. @param {PageDriver} driver @param {Ask} ask */
export async function changeInBulk(driver, ask) {
  const { page, at, button } = driver;
  const table = page.getByRole('table', { name: 'Credentials' });
  const boxes = table.getByRole('rowheader');
  await boxes.first().getByRole('link').focus();
  await page.keyboard.press('x');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+X');
  await page.getByText('3 credentials selected').waitFor();
  await page.getByLabel('Select all that are loaded').click();
  await button(`Select all ${GATES} that match`).click();
  await page.getByText(`All ${GATES} credentials selected`).waitFor();
  await button('Change who holds them …').click();
  await page.getByRole('dialog').getByLabel('Held by').selectOption({ label: 'keeper (bot user)' });
  await button('Change the holder').click();
  await page.getByText(`${GATES} of ${GATES} done`).waitFor();
  const held = async () => {
    const { users, credentials } = await ask(`{
      users: botUsers(filter: "obj.name == 'keeper'") { nodes { id } }
      credentials(filter: "obj.description.contains('gate')") { nodes { owner { id } } }
    }`);
    const [{ id }] = users.nodes;
    return credentials.nodes.filter((/** @type {any} */ { owner }) => owner.id === id).length;
  };
  const before = await held();
  await page.getByRole('dialog').getByRole('link', { name: 'Page of this change' }).click();
  await page.getByRole('heading', { name: /credentials/ }).waitFor();
  const job = page.url();
  await button('Undo').click();
  await until(() => page.url() !== job, 'the undo has a page of its own');
  await page.getByText(`${GATES} of ${GATES} done`).waitFor();
  const after = await held();
  expectPromise('a change of all that match shows its progress, and is undone', before === 100 && after === 0, [
    `${before} of the first page before, ${after} after`,
  ]);
  await page.goto(at('audit?kind=bulkJob'));
  await page.getByRole('table', { name: 'Audit trail' }).getByText('bulk job started').nth(1).waitFor();
  await page.goto(at('audit?kind=credential&action=UPDATED'));
  await page.getByRole('table', { name: 'Audit trail' }).getByText('gate 1').first().waitFor();
  expectPromise('both are in the audit trail, and so is each credential', true);
}

/** What was made is deleted in bulk, after its number was typed. @param {PageDriver} driver */
export async function deleteInBulk({ page, at, button }) {
  const filter = 'obj.description.startsWith("gate ") || obj.description.startsWith("door ")';
  await page.goto(at(`credentials?${new URLSearchParams({ filter })}`));
  await page.getByLabel('Select all that are loaded').click();
  await button(`Select all ${GATES + DOORS} that match`).click();
  await button('Delete …').click();
  const confirm = button(`Delete ${GATES + DOORS} credentials`);
  const isHeldBack = (await confirm.getAttribute('aria-disabled')) === 'true';
  await page
    .getByRole('dialog')
    .getByRole('textbox')
    .fill(String(GATES + DOORS));
  await confirm.click();
  await page.getByText(`${GATES + DOORS} of ${GATES + DOORS} done`).waitFor();
  await button('Close').last().click();
  await page.getByText('No credential fits').waitFor();
  expectPromise('many are deleted only after their number was typed, and the list follows', isHeldBack);
}

/** @param {PageDriver} driver @param {string} text */
function footer({ page }, text) {
  return page.locator('.table-footer', { hasText: text });
}
