// An admin adds a passkey, signs in with it alone, and removes it. The device is Chromium's virtual authenticator.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAppearance } from '../checks/appearance.js';
import { drivePage } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';
import { PASSWORD, signIn, signInByLink } from './sign-in-steps.js';

const NAME = 'Phone of the night shift';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function usePasskey(browser, gateway) {
  // Passkeys are for names; the gateway prints an IP address.
  const [api, signInLink] = [atLocalhost(gateway.api), atLocalhost(gateway.signInLink)];
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const record = await recordPages(context);
  const page = await context.newPage();
  const driver = drivePage(page, api);
  const device = await addDevice(context, page);
  try {
    await signInByLink(driver, signInLink);
    await addPasskey(driver);
    const state = await context.storageState();
    const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
    const seen = await checkAppearance(browser, { api, state, paths: ['me'], directory });

    await driver.button('Sign out').click();
    await pressPasskey(driver);
    await driver.page.getByRole('navigation', { name: 'Places' }).waitFor();
    expectPromise('a passkey signs in, without a password', true);

    await driver.button('Sign out').click();
    await device.setUserVerified(false);
    await pressPasskey(driver);
    await driver.page.getByText('No passkey was chosen, or it took too long.').waitFor();
    expectPromise('a device that does not verify its user signs nobody in, and the page says so', true);
    await device.setUserVerified(true);

    await signIn(driver);
    await removePasskey(driver);
    await driver.button('Sign out').click();
    await pressPasskey(driver);
    await driver.page.getByText('This passkey does not sign you in').waitFor();
    expectPromise('a passkey that was removed signs nobody in', true);
    const faults = [...seen.findings, ...seen.tooWide, ...seen.broken, ...record.broken];
    expectPromise('axe finds nothing serious beside a passkey, and no page throws', faults.length === 0, faults);
  } catch (error) {
    const picture = join(mkdtempSync(join(tmpdir(), 'dashboard-')), 'failed.png');
    await page.screenshot({ path: picture });
    process.stdout.write(`       ${picture}\n`);
    throw error;
  } finally {
    await context.close();
  }
}

/** @param {string} url */
const atLocalhost = (url) => url.replace('127.0.0.1', 'localhost');

/**
 * A device with a lock that its user opens at once.
 * @param {any} context Playwright's
 * @param {any} page Playwright's
 */
async function addDevice(context, page) {
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    },
  });
  return {
    /** @param {boolean} isUserVerified @returns {Promise<void>} */
    setUserVerified: (isUserVerified) => devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  };
}

/** @param {PageDriver} driver */
async function addPasskey({ page, at, button }) {
  await page.goto(at('me'));
  await button('Add a passkey…').click();
  await page.getByLabel('Name').fill(NAME);
  await page.getByLabel('Your password').fill(PASSWORD);
  await button('Add the passkey').click();
  await button(`Remove ${NAME}`).waitFor();
  expectPromise('with the password, a device becomes a passkey, and is listed by its name', true);
}

/** @param {PageDriver} driver */
async function removePasskey({ page, at, button }) {
  await page.goto(at('me'));
  await button(`Remove ${NAME}`).click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await button('Remove the passkey').click();
  await page.getByText('You have none.').waitFor();
  expectPromise('it is removed with the password', true);
}

/** @param {PageDriver} driver */
async function pressPasskey({ button, heading }) {
  await heading('Sign in').waitFor();
  await button('Sign in with a passkey').click();
}
