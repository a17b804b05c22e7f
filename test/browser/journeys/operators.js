// An operator signs in to the dashboard at an identity provider, and comes to the page that was asked for. The gateway is one that
// knows the provider, and the provider knows where the gateway's dashboard is.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { startGateway } from '../support/gateway.js';
import { startIdentityProvider } from '../support/identity-provider.js';
import { drivePage } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';

const LOGIN = 'olga';
const EMAIL = 'olga@example.com';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/** @param {any} browser Playwright's */
export async function signOperatorIn(browser) {
  const port = await freePort();
  const api = `http://127.0.0.1:${port}`;
  const { provider, client } = await startIdentityProvider(`${api}/dashboard/sign-in`);
  const gateway = await startGateway(undefined, {
    API_PORT: String(port),
    SSO_ISSUER: provider.issuer,
    SSO_CLIENT_ID: client.client_id,
    SSO_CLIENT_SECRET: client.client_secret,
    SSO_NAME: 'Example ID',
    SSO_ADMIN_GROUPS: 'ops',
    SSO_PASSWORD_USER: 'admin@localhost',
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { broken } = await recordPages(context);
  try {
    const driver = drivePage(await context.newPage(), api);
    await refuseOutsider(driver, provider);
    await comeIn(driver, provider);
    expectPromise('no page of the dashboard throws while an operator signs in', broken.length === 0, broken);
  } finally {
    await context.close();
    await gateway.stop();
    await provider.close();
  }
}

/**
 * One who is in none of the groups is told so, and may try again.
 * @param {PageDriver} driver
 * @param {import('../../visitor-sign-in/provider.ts').TestProvider} provider
 */
async function refuseOutsider(driver, provider) {
  const { page, at } = driver;
  provider.users.set(LOGIN, { groups: ['others'] });
  await page.goto(at('access/users'));
  const password = page.getByLabel('Password');
  expectPromise('where one user alone has a password, its form is not in the way', (await password.count()) === 0);
  await goThroughProvider(driver, provider.issuer);
  await page.getByText('None of your groups may sign in here').waitFor();
  expectPromise('who is in none of the groups is refused', page.url() === at('sign-in'), [page.url()]);
}

/**
 * @param {PageDriver} driver
 * @param {import('../../visitor-sign-in/provider.ts').TestProvider} provider
 */
async function comeIn(driver, provider) {
  const { page, at, heading, button } = driver;
  provider.users.set(LOGIN, { groups: ['ops'] });
  await page.goto(at('access/users'));
  await button('Sign in with Example ID').click();
  // The provider knows the browser by now.
  await page.getByRole('row').filter({ hasText: EMAIL }).waitFor();
  expectPromise(
    'who has signed in at the provider is a user, and sees the page that was asked for',
    page.url() === at('access/users'),
    [page.url()],
  );
  await page.goBack();
  expectPromise('no code of the provider is in the history', !page.url().includes('code='), [page.url()]);
  await page.goto(at('overview'));
  await button('Sign out').click();
  await heading('Sign in').waitFor();
  await button('Sign in with the emergency password').click();
  await page.getByLabel('Password').waitFor();
  expectPromise('the emergency password is there when it is asked for', true);
}

/**
 * @param {PageDriver} driver
 * @param {string} issuer
 */
async function goThroughProvider({ page, button }, issuer) {
  await button('Sign in with Example ID').click();
  await page.locator('[name=login]').waitFor();
  expectPromise('an operator is sent to the provider', page.url().startsWith(`${issuer}/interaction/`), [page.url()]);
  await page.locator('[name=login]').fill(LOGIN);
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await page.locator('[name=login]').waitFor({ state: 'detached' });
  await page.locator('[type=submit]').click();
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}
