// Half of a fleet disappears, and one alert arrives as an e-mail; it is acknowledged, and resolved once the fleet is back.

import { startAgent } from '../support/agent.js';
import { apiClient } from '../support/api.js';
import { drivePage, until } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';
import { signInByLink } from './sign-in-steps.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

const AGENTS = 6;
/** Nobody visits the agents. */
const UNUSED_PORT = 9;
/** Notifications wait for 30 s, so that what goes away together is told together. */
const MAIL_MS = 60_000;
const RULE = 'Half of the site is gone';
const RECIPIENT = 'ops@example.com';

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function loseHalfOfFleet(browser, { api, apiKey, signInLink, agentLine, mails }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { broken } = await recordPages(context);
  const driver = drivePage(await context.newPage(), api);
  const ask = apiClient(api, apiKey);
  const agents = Array.from({ length: AGENTS }, () => startAgent(agentLine, UNUSED_PORT));
  const liveCount = async () => (await ask('{ endpoints { totalCount } }')).endpoints.totalCount;
  try {
    await signInByLink(driver, signInLink);
    await addRule(driver);
    await until(async () => (await liveCount()) === AGENTS, 'all agents are online');
    await driver.go('Overview');
    for (const agent of agents.slice(0, AGENTS / 2)) agent.signal('SIGKILL');
    const problem = driver.page.getByRole('list', { name: 'What needs a look' }).getByText(RULE);
    await problem.waitFor();
    await until(() => mails.length > 0, 'a mail arrives', MAIL_MS);
    const [mail] = mails;
    const words = [RULE, `${AGENTS / 2} endpoints are offline`, 'Share: 50 %'];
    const lacks = words.filter((word) => !mail?.source.includes(word));
    expectPromise('half of a fleet that disappears is one alert, told by e-mail', lacks.length === 0, [
      ...lacks,
      mail?.source ?? '',
    ]);
    await acknowledge(driver, problem);
    await until(async () => (await ask('{ openAlerts { id } }')).openAlerts.length === 1, 'one alert is open');
    const { offlineEndpoints } = await ask('{ offlineEndpoints { nodes { id } } }');
    for (const { id } of offlineEndpoints.nodes)
      await ask('mutation ($id: ID!) { forgetOfflineEndpoint(id: $id) { forgottenOfflineEndpointId } }', { id });
    await driver.page.getByText('resolved').first().waitFor();
    await until(() => mails.length > 1, 'the second mail arrives', MAIL_MS);
    const subjects = mails.map(({ source }) => /^Subject: .*$/m.exec(source)?.[0] ?? '');
    const isOnce = mails.length === 2 && mails.every(({ to }) => to.join() === RECIPIENT);
    expectPromise('one mail tells that it began, and one that it is over', isOnce, subjects);
    expectPromise('no page throws while alerts come and go', broken.length === 0, broken);
  } finally {
    await context.close();
    await Promise.all(agents.map((agent) => agent.stop()));
  }
}

/** Adds a channel for e-mail and a rule that tells there. @param {PageDriver} driver */
async function addRule({ page, at, button, heading }) {
  await page.goto(at('alerts/channels/new'));
  await page.getByLabel('Name').fill('the people on call');
  await page.getByPlaceholder(RECIPIENT).fill(RECIPIENT);
  await button('Create the channel').click();
  await heading('the people on call').waitFor();
  await page.goto(at('alerts/rules/new'));
  await page.getByLabel('Name').fill(RULE);
  await page.getByLabel('Condition').selectOption('A share of the endpoints is offline');
  await page.getByLabel('More than').fill('40');
  await page.getByLabel('For', { exact: true }).fill('1');
  await page.getByLabel('Resolved after').fill('1');
  await page.getByLabel('the people on call').check();
  await button('Create the rule').click();
  await heading(RULE).waitFor();
}

/** @param {PageDriver} driver @param {any} problem the alert on the first page */
async function acknowledge({ page, button, heading }, problem) {
  await problem.click();
  await heading(RULE).waitFor();
  await button('Acknowledge').click();
  await page.getByRole('dialog').getByRole('textbox').fill('The power of the hall is off.');
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByText('The power of the hall is off.').first().waitFor();
}
