import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

export const PASSWORD = 'a long walk along the river';

/**
 * Signs in by the link that a first start prints. @param {PageDriver} driver
 * @param {string} link
 */
export async function signInByLink({ page, at, button, heading }, link) {
  await page.goto(link);
  await heading('Set your password').waitFor();
  const url = page.url();
  expectPromise(
    'the printed link opens, and its token disappears from the address bar at once',
    url === at('sign-in'),
    [url],
  );
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByLabel('The same password again').fill(PASSWORD);
  await button('Set the password and sign in').click();
  await heading('Overview').waitFor();
  expectPromise('setting a password by the link signs in', true);
}

/** Signs out, and in again with the password. @param {PageDriver} driver */
export async function signInAgain(driver) {
  await driver.button('Sign out').click();
  await signIn(driver);
  expectPromise('after signing out, the password signs in again', true);
}

/** @param {PageDriver} driver */
export async function signIn({ page, button, heading }) {
  await heading('Sign in').waitFor();
  await page.getByLabel('E-mail address').fill('admin@localhost');
  await page.getByLabel('Password').fill(PASSWORD);
  await button('Sign in').click();
  await page.getByRole('navigation', { name: 'Places' }).waitFor();
}

/**
 * Signs in with another browser, and signs that one out from the first.
 * @param {PageDriver} driver
 * @param {PageDriver} other a page of another browser
 */
export async function signOutAnother({ page, at }, other) {
  await other.page.goto(other.at('endpoints'));
  await signIn(other);
  await page.goto(at('me'));
  await page.getByRole('button', { name: /^Sign out .+ at 127\.0\.0\.1$/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
  await other.heading('Sign in').waitFor();
  await page.getByRole('navigation', { name: 'Places' }).waitFor();
  expectPromise('another browser is signed out at once from this one, which stays', true);
}
