// Steps with somebody else: two change the same object, and a message comes between press and release.

import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */
/** @typedef {(query: string, variables?: object) => Promise<any>} Ask */

const READ = 'query ($id: ID!) { credential(id: $id) { description metadata } }';
const UPDATE = `mutation ($id: ID!, $input: UpdateCredentialInput!) { updateCredential(id: $id, input: $input) { credential { id } } }`;

/** @param {PageDriver} driver @param {Ask} ask */
export async function decideConflict({ page, at, button }, ask) {
  const {
    createCredential: { credential: createCredential },
  } = await ask('mutation { createCredential(input: { description: "before" }) { credential { id } } }');
  const { id } = createCredential;
  await page.goto(at(`credentials/${id}/edit`));
  const description = page.getByLabel('Description');
  await description.fill('mine');
  await ask(UPDATE, { id, input: { description: 'theirs', metadata: 'noted by them' } });
  const conflict = page.getByRole('region', { name: 'Description' });
  await conflict.getByText('theirs', { exact: true }).waitFor();
  const taken = await page.getByLabel('Metadata').inputValue();
  expectPromise(
    'a change of somebody else is shown before saving, and taken over where it touches nothing of one’s own',
    taken === 'noted by them',
    [taken],
  );
  await button('Save').click();
  await page.getByText('Nothing is saved until you have decided').waitFor();
  const during = await ask(READ, { id });
  expectPromise('nothing is saved over it undecided', during.credential.description === 'theirs');
  await button('Keep mine: Description').click();
  await conflict.waitFor({ state: 'detached' });
  await button('Save').click();
  await page.waitForURL(at(`credentials/${id}`));
  const { credential: after } = await ask(READ, { id });
  const isBoth = after.description === 'mine' && after.metadata === 'noted by them';
  expectPromise('one’s own value is saved beside the other change', isBoth, [JSON.stringify(after)]);

  // A change that the page has not heard of yet.
  await page.goto(at(`credentials/${id}/edit`));
  await description.fill('mine again');
  // The first request after the press is the form's question whether anything has changed.
  await page.route(
    '**/graphql',
    async (/** @type {any} */ route) => {
      await ask(UPDATE, { id, input: { description: 'unheard of' } });
      await route.continue();
    },
    { times: 1 },
  );
  await button('Save').click();
  await conflict.getByText('unheard of', { exact: true }).waitFor();
  const { credential: unsaved } = await ask(READ, { id });
  expectPromise(
    'a change in the moment of saving is found before anything is saved',
    unsaved.description === 'unheard of',
  );
  await button('Take theirs: Description').click();
  await conflict.waitFor({ state: 'detached' });
  expectPromise('their value can be taken', (await description.inputValue()) === 'unheard of');
}

/** @param {PageDriver} driver @param {Ask} ask */
export async function pressWhileItChanges({ page, at, button }, ask) {
  const {
    createCredential: { credential: createCredential },
  } = await ask('mutation { createCredential(input: { description: "still" }) { credential { id } } }');
  const { id } = createCredential;
  await page.goto(at(`credentials/${id}/edit`));
  await page.getByLabel('Description').fill('moving');
  await page.getByLabel('Metadata').fill('x'.repeat(5000));
  const save = button('Save');
  const before = await save.boundingBox();
  await page.mouse.move(before.x + 5, before.y + 5);
  await page.mouse.down();
  await ask(UPDATE, { id, input: { description: 'shaken' } });
  // Both messages are due: that of the field that was left, and that of the other change.
  await page.waitForResponse((/** @type {any} */ response) => response.request().postData()?.includes(id));
  const during = await save.boundingBox();
  const shown = await page.locator('.field-error, .conflicts').count();
  await page.mouse.up();
  await page.getByRole('region', { name: 'Description' }).waitFor();
  await page.locator('.field-error').waitFor();
  const after = await save.boundingBox();
  expectPromise(
    'no message moves a button between press and release, and they all come right after',
    during.y === before.y && shown === 0 && after.y > before.y,
    [JSON.stringify({ before, during, after, shown })],
  );
  await button('Take theirs: Description').click();
  await page.getByLabel('Metadata').fill('');
}
