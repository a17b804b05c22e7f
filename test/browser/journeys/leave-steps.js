// Steps that leave a page too early: with a half filled form, and with a secret that nobody has copied.

import { expectPromise } from '../support/promise.js';
import { signIn } from './sign-in-steps.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

const TYPED = 'typed with care';

/** Leaves a half filled form in every way. @param {PageDriver} driver */
export async function leaveByAccident({ page, at, button, heading, go }) {
  await go('Credentials');
  await page.getByRole('link', { name: 'New credential' }).first().click();
  const field = page.getByLabel('Description');
  await field.fill(TYPED);
  const question = heading('Leave without saving?');
  const ways = {
    'a link': () => go('Agents'),
    'the back button': () => page.evaluate(() => history.back()),
    Cancel: () => button('Cancel').click(),
    'signing out': () => button('Sign out').click(),
  };
  for (const [way, leave] of Object.entries(ways)) {
    await leave();
    await question.waitFor();
    await button('Stay here').click();
    const isKept = (await field.inputValue()) === TYPED && page.url() === at('credentials/new');
    expectPromise(`unsaved work asks before it is left by ${way}`, isKept, [page.url()]);
  }
  // Closing the tab asks by the browser's own dialog.
  const asked = page.waitForEvent('dialog');
  const closing = page.reload().catch(() => {});
  const dialog = await asked;
  const isAsked = dialog.type() === 'beforeunload';
  await dialog.accept();
  await closing;
  expectPromise('unsaved work asks before the tab is closed or loaded again', isAsked, [dialog.type()]);
}

/** Finds what was typed after a reload and after a session that ended. @param {PageDriver} driver */
export async function restoreDraft(driver) {
  const { page, at, button, go } = driver;
  const field = page.getByLabel('Description');
  const restored = page.getByText('What you typed here before was restored');
  await restored.waitFor();
  expectPromise('a draft survives a reload, and the form says so', (await field.inputValue()) === TYPED);
  await page.context().clearCookies();
  await button('Create the credential').click();
  await signIn(driver);
  await restored.waitFor();
  const isBack = (await field.inputValue()) === TYPED && page.url() === at('credentials/new');
  expectPromise('a draft survives the end of the session', isBack, [page.url()]);
  await button('Discard the draft').click();
  await restored.waitFor({ state: 'detached' });
  const isEmpty = (await field.inputValue()) === '';
  await go('Agents');
  await page.waitForURL(at('agents'));
  const keys = await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('draft:')));
  expectPromise('a draft that is discarded is gone, and leaving asks no more', isEmpty && keys.length === 0, keys);
}

/** Leaves a new authtoken behind. @param {PageDriver} driver */
export async function leaveSecret({ page, at, button, heading, go }) {
  await page.goto(at('credentials/new'));
  await button('Create the credential').click();
  await page.locator('.secret').waitFor();
  await go('Agents');
  await heading('Leave without the secret?').waitFor();
  await button('Stay here').click();
  const isThere = await page.locator('.secret').isVisible();
  await button('Copy the authtoken').click();
  await go('Agents');
  await page.waitForURL(at('agents'));
  expectPromise('a secret that was not copied asks before it is left, and one that was does not', isThere);

  await page.goto(at('access/bots/new'));
  await page.getByLabel('Name').fill('robot');
  await button('Create the bot user').click();
  await button('Rename').click();
  await page.getByRole('dialog').getByLabel('Name').fill('android');
  await page.keyboard.press('Escape');
  await heading('Leave without saving?').waitFor();
  await page.keyboard.press('Escape');
  const isStillOpen = (await page.getByRole('dialog').getByLabel('Name').inputValue()) === 'android';
  await page.keyboard.press('Escape');
  await button('Discard the changes').click();
  await page.getByRole('dialog').first().waitFor({ state: 'detached' });
  expectPromise('Escape asks before a dialog with unsaved work closes', isStillOpen);
}
