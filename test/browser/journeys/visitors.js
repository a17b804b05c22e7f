// A visitor signs in at an identity provider to see a page, the operator sees that and signs the visitor out, and the
// next page asks the visitor again. All of it is real: the provider, the gateway, the agent, and two browsers.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAppearance } from '../checks/appearance.js';
import { startAgent } from '../support/agent.js';
import { apiClient } from '../support/api.js';
import { openChromium } from '../support/chromium.js';
import { startVisitorsProvider } from '../support/identity-provider.js';
import { drivePage, isStillMarked, markPage, until } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';
import { trustArgument } from '../support/trust.js';
import { startUpstream } from '../support/upstream.js';
import { signInByLink } from './sign-in-steps.js';

const NAME = 'visited.tunnel.localhost';
const LOGIN = 'ann';
const EMAIL = 'ann@example.com';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/**
 * @param {any} browser Playwright's, the operator's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function signVisitorOut(browser, { api, apiKey, https, signInLink, agentLine }) {
  const ask = apiClient(api, apiKey);
  const upstream = await startUpstream();
  const { provider, action } = await startVisitorsProvider(api, apiKey);
  const place = mkdtempSync(join(tmpdir(), 'gateway-browser-policy-'));
  const policy = join(place, 'policy.json');
  writeFileSync(policy, JSON.stringify({ on_http_request: [{ actions: [action] }] }));
  const agent = startAgent(agentLine, upstream.port, `https 3000 --domain ${NAME} --policy ${policy}`);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { broken } = await recordPages(context);
  let visitors;
  try {
    await until(async () => (await ask('{ endpoints { totalCount } }')).endpoints.totalCount === 1, 'it is online');
    const { gatewayInfo } = await ask('{ gatewayInfo { caCertificate } }');
    visitors = await openChromium([await trustArgument(https, NAME, gatewayInfo.caCertificate)]);
    const visit = { url: `https://${NAME}:${https.split(':')[1]}/orders?open=1`, issuer: provider.issuer };
    const visitor = await visitors.newPage();
    const driver = drivePage(await context.newPage(), api);
    await signInByLink(driver, signInLink);
    await driver.page.goto(driver.at('visitors/sessions'));
    await driver.heading('No visitor is signed in').waitFor();
    await markPage(driver);

    await signIn(visitor, visit);
    await watchSession(driver);
    await lookAtScreens(browser, { api, state: await context.storageState(), ask });
    await signOut(driver, visitor, visit);
    await deleteVisitor(driver, ask);
    expectPromise('no page of the dashboard throws while visitors come and go', broken.length === 0, broken);
  } catch (error) {
    process.stdout.write(agent.output());
    throw error;
  } finally {
    await visitors?.close();
    await context.close();
    await agent.stop();
    await provider.close();
    upstream.stop();
    rmSync(place, { recursive: true, force: true });
  }
}

/**
 * Opens the page, and comes to it by way of the provider.
 * @param {any} visitor Playwright's page
 * @param {{ url: string, issuer: string }} visit
 */
async function signIn(visitor, { url, issuer }) {
  await visitor.goto(url);
  expectPromise('a visitor is sent to the provider', visitor.url().startsWith(`${issuer}/interaction/`), [
    visitor.url(),
  ]);
  await visitor.locator('[name=login]').fill(LOGIN);
  await visitor.locator('[name=password]').fill('any');
  await visitor.locator('[type=submit]').click();
  // The provider asks once whether the gateway may know who it is.
  await visitor.locator('[name=login]').waitFor({ state: 'detached' });
  await visitor.locator('[type=submit]').click();
  await visitor.waitForURL(url);
  await visitor.getByText('seen GET /orders?open=1').waitFor();
  expectPromise('who has signed in there sees the page that was asked for, over HTTPS', true);
}

/** Sees the session in the list that was open, on the page of the visitor, and by itself. @param {PageDriver} driver */
async function watchSession(driver) {
  const { page, heading } = driver;
  const row = page.getByRole('row').filter({ hasText: EMAIL });
  await row.filter({ hasText: NAME }).waitFor();
  expectPromise('the session turns up in the dashboard without a reload', await isStillMarked(driver));
  await row.getByRole('link').first().click();
  await heading(`Chrome`).waitFor();
  await page.getByRole('link', { name: EMAIL }).click();
  await heading(EMAIL).waitFor();
  await page.getByText('Name of ann').waitFor();
}

/**
 * Looks at every screen of visitors while there is one.
 * @param {any} browser Playwright's
 * @param {{ api: string, state: object, ask: (query: string) => Promise<any> }} with_
 */
async function lookAtScreens(browser, { api, state, ask }) {
  const { appUsers, appSessions } = await ask('{ appUsers { nodes { id } } appSessions { nodes { id } } }');
  const paths = ['', '/sessions', `/${appUsers.nodes[0].id}`, `/sessions/${appSessions.nodes[0].id}`];
  const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
  const { findings, tooWide, broken, pictures } = await checkAppearance(browser, {
    ...{ api, state, directory },
    paths: paths.map((path) => `visitors${path}`),
  });
  process.stdout.write(`       ${directory}: ${pictures} pictures\n`);
  const faults = [...findings, ...tooWide, ...broken];
  expectPromise(
    'axe finds nothing serious on the screens of visitors, and none is too wide',
    faults.length === 0,
    faults,
  );
}

/**
 * Ends the session on the page of the visitor, who is asked to sign in again at the next page.
 * @param {PageDriver} driver
 * @param {any} visitor Playwright's page
 * @param {{ url: string, issuer: string }} visit
 */
async function signOut({ page }, visitor, { url, issuer }) {
  await visitor.reload();
  await visitor.getByText('seen GET /orders?open=1').waitFor();
  await page.getByRole('button', { name: /^Sign out Chrome .* at https:/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByText('The visitor is signed in nowhere.').waitFor();
  await visitor.goto(url);
  await visitor.locator('[name=login]').waitFor();
  const isAsked = visitor.url().startsWith(`${issuer}/interaction/`);
  expectPromise('a visitor who is signed out in the dashboard is asked to sign in at the next page', isAsked, [
    visitor.url(),
  ]);
}

/**
 * Deletes the visitor.
 * @param {PageDriver} driver
 * @param {(query: string) => Promise<any>} ask
 */
async function deleteVisitor({ page, at, button, heading }, ask) {
  await button('Delete').click();
  await button('Delete the visitor').click();
  await page.waitForURL(at('visitors'));
  await heading('No visitor has signed in yet').waitFor();
  const { appUsers } = await ask('{ appUsers { totalCount } }');
  expectPromise('a visitor who is deleted is gone', appUsers.totalCount === 0);
}
