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
  await heading('Endpoints').waitFor();
  expectPromise('setting a password by the link signs in', true);
}

/** Signs out, and in again with the password. @param {PageDriver} driver */
export async function signInAgain({ page, button, heading }) {
  await button('Sign out').click();
  await heading('Sign in').waitFor();
  await page.getByLabel('E-mail address').fill('admin@localhost');
  await page.getByLabel('Password').fill(PASSWORD);
  await button('Sign in').click();
  await page.getByRole('navigation', { name: 'Places' }).waitFor();
  expectPromise('after signing out, the password signs in again', true);
}
