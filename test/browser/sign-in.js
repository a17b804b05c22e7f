import { said } from './said.js';

/** @typedef {import('./hand.js').Hand} Hand */

export const PASSWORD = 'a long walk along the river';

/**
 * Signs in by the link that a first start prints. @param {Hand} hand
 * @param {string} link
 */
export async function signInByLink({ page, at, button, heading }, link) {
  await page.goto(link);
  await heading('Set your password').waitFor();
  const place = page.url();
  said('the printed link opens, and its token leaves the address at once', place === at('sign-in'), [place]);
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByLabel('The same password again').fill(PASSWORD);
  await button('Set the password and sign in').click();
  await heading('Endpoints').waitFor();
  said('with a new password somebody is signed in', true);
}

/** Goes, and comes back with the password. @param {Hand} hand */
export async function signInAgain({ page, button, heading }) {
  await button('Sign out').click();
  await heading('Sign in').waitFor();
  await page.getByLabel('E-mail address').fill('admin@localhost');
  await page.getByLabel('Password').fill(PASSWORD);
  await button('Sign in').click();
  await page.getByRole('navigation', { name: 'Places' }).waitFor();
  said('who signs out comes back with the password', true);
}
