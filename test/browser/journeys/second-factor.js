// An admin sets up an app for codes, signs in with its code and with a recovery code, and turns it off. The journey is the app.

import { createHmac } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAppearance } from '../checks/appearance.js';
import { findSecretLeaks } from '../checks/secret-leaks.js';
import { drivePage } from '../support/page-driver.js';
import { recordPages, storedByPage } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';
import { PASSWORD, signInByLink } from './sign-in-steps.js';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_MS = 30_000;

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function useSecondFactor(browser, { api, signInLink, log }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const record = await recordPages(context);
  const driver = drivePage(await context.newPage(), api);
  try {
    await signInByLink(driver, signInLink);
    const { secret, recoveryCodes } = await setUpApp(driver);
    const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
    const state = await context.storageState();
    const seen = await checkAppearance(browser, { api, state, paths: ['me'], directory });
    // The code that has confirmed the app was used; the next one counts half a minute before its time.
    await signInWithCode(driver, codeOf(secret, Date.now() + STEP_MS));
    expectPromise('a code of the app signs in', true);
    await signInWithCode(driver, recoveryCodes[0] ?? '');
    expectPromise('a recovery code signs in', true);
    await turnOff(driver, await replaceCodes(driver, recoveryCodes));
    const texts = { URLs: record.requested, console: record.consoleLines, stores: [await storedByPage(driver.page)] };
    const leaks = findSecretLeaks({ secret, recoveryCode: recoveryCodes[0] ?? '' }, { ...texts, log: [log()] });
    expectPromise('no secret of the app is in a URL, the console, the stores or the log', leaks.length === 0, leaks);
    const faults = [...seen.findings, ...seen.tooWide, ...seen.broken, ...record.broken];
    expectPromise('axe finds nothing serious beside a second factor, and no page throws', faults.length === 0, faults);
  } catch (error) {
    const picture = join(mkdtempSync(join(tmpdir(), 'dashboard-')), 'failed.png');
    await driver.page.screenshot({ path: picture });
    process.stdout.write(`       ${picture}\n`);
    throw error;
  } finally {
    await context.close();
  }
}

/** @param {PageDriver} driver */
async function setUpApp({ page, at, button }) {
  await page.goto(at('me'));
  await button('Set up an app…').click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await button('Show the secret').click();
  const [secret = '', url = ''] = await textsOf(page.locator('.code-block code'), 2);
  expectPromise('the secret is shown as text and as an address', url.includes(`?secret=${secret}&`), [url]);
  await page.getByLabel('Code').fill(codeOf(secret, Date.now()));
  await button('Turn the second factor on').click();
  const [list = ''] = await textsOf(page.locator('.secret code'), 1);
  const recoveryCodes = list.trim().split('\n');
  await button('I have kept it').click();
  await page.getByText('It is on. Recovery codes left: 10.').waitFor();
  const isGone = !(await page.content()).includes(recoveryCodes[0] ?? '');
  expectPromise(
    'a code of the app turns it on; ten recovery codes are shown once',
    isGone && recoveryCodes.length === 10,
  );
  return { secret, recoveryCodes };
}

/**
 * Signs out, and in again.
 * @param {PageDriver} driver
 * @param {string} code
 */
async function signInWithCode({ page, button, heading }, code) {
  await button('Sign out').click();
  await heading('Sign in').waitFor();
  await page.getByLabel('E-mail address').fill('admin@localhost');
  await page.getByLabel('Password').fill(PASSWORD);
  await button('Sign in').click();
  const field = page.getByLabel('Code');
  await field.waitFor();
  const isFocused = await field.evaluate((/** @type {Element} */ element) => element === document.activeElement);
  expectPromise('after the password, the form asks for a code', isFocused);
  await field.fill(code);
  await button('Sign in').click();
  await page.getByRole('navigation', { name: 'Places' }).waitFor();
}

/**
 * Asks for other recovery codes.
 * @param {PageDriver} driver
 * @param {string[]} before of which the first is used
 * @returns those of before that are left, which work no more, and then the new ones
 */
async function replaceCodes({ page, at, button }, [, left = '', other = '']) {
  await page.goto(at('me'));
  await page.getByText('Recovery codes left: 9.').waitFor();
  await button('Other recovery codes…').click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByLabel('Code').fill(left);
  await button('Make other recovery codes').click();
  const [list = ''] = await textsOf(page.locator('.secret code'), 1);
  await button('I have kept it').click();
  await page.getByText('It is on. Recovery codes left: 10.').waitFor();
  return [other, ...list.trim().split('\n')];
}

/**
 * @param {PageDriver} driver
 * @param {string[]} recoveryCodes of which the first does not work
 */
async function turnOff({ page, at, button }, [used = '', other = '']) {
  await page.goto(at('me'));
  await button('Turn it off…').click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByLabel('Code').fill(used);
  await button('Turn the second factor off').click();
  await page.getByText('was used already').waitFor();
  await page.getByLabel('Code').fill(other);
  await button('Turn the second factor off').click();
  await page.getByText('It is off.').waitFor();
  expectPromise('it is turned off with the password and a code that was not used before', true);
}

/**
 * @param {any} locator Playwright's
 * @param {number} count
 * @returns {Promise<string[]>}
 */
async function textsOf(locator, count) {
  await locator.nth(count - 1).waitFor();
  return locator.allTextContents();
}

/**
 * The code that an app shows (RFC 6238).
 * @param {string} secret in Base32
 * @param {number} at milliseconds
 */
function codeOf(secret, at) {
  const bits = [...secret].map((one) => BASE32.indexOf(one).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / STEP_MS)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}
