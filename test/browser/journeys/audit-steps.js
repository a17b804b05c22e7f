// Steps on the audit trail: it is read live, filtered, and opened from an object's page.

import { objectsOf } from '../support/payloads.js';
import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */
/** @typedef {(query: string, variables?: object) => Promise<any>} Ask */

/** What another client changes appears by itself, and says what it was before. @param {PageDriver} driver @param {Ask} ask */
export async function readAuditTrail({ page, heading, go, at }, ask) {
  const { made } = objectsOf(
    await ask('mutation { made: createIpPolicy(input: { description: "north gate" }) { ipPolicy { id } } }'),
  );
  await go('Audit');
  const rows = page.getByRole('table', { name: 'Audit trail' }).getByRole('row');
  await rows.filter({ hasText: 'north gate' }).waitFor();
  await ask(
    'mutation ($id: ID!) { updateIpPolicy(id: $id, input: { description: "south gate" }) { ipPolicy { id } } }',
    made,
  );
  await rows.filter({ hasText: 'south gate' }).waitFor();
  await page.getByLabel('What', { exact: true }).selectOption('UPDATED');
  await page.getByLabel('Kind', { exact: true }).selectOption('ipPolicy');
  await rows.filter({ hasText: 'north gate' }).waitFor({ state: 'detached' });
  const isInUrl = page.url().includes('kind=ipPolicy') && page.url().includes('action=UPDATED');
  await rows.getByRole('link', { name: 'IP policy: updated' }).click();
  await heading('south gate: updated').waitFor();
  const difference = await page.getByRole('row', { name: /description/ }).textContent();
  expectPromise(
    'what somebody changes is seen live in the audit trail, filtered by the URL, with what it was before',
    isInUrl && /north gate.*south gate/.test(difference),
    [page.url(), difference],
  );
  await page.goto(at(`edges/ip-policies/${made.id}`));
  const history = page.getByRole('listitem').filter({ hasText: 'updated' });
  await history.locator('summary').click();
  await history.getByText('north gate').waitFor();
  await ask('mutation ($id: ID!) { deleteIpPolicy(id: $id) { deletedIpPolicyId } }', made);
}
