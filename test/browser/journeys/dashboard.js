// The whole journey through the dashboard: from the link that a first start prints to the deletion of a credential,
// with a real gateway, real agents and real visitors.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAppearance } from '../checks/appearance.js';
import { screenPaths } from '../checks/screens.js';
import { findSecretLeaks } from '../checks/secret-leaks.js';
import { startAgent, startDevice } from '../support/agent.js';
import { apiClient } from '../support/api.js';
import { drivePage, until } from '../support/page-driver.js';
import { recordPages, storedByPage } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';
import { startUpstream } from '../support/upstream.js';
import { readAuditTrail } from './audit-steps.js';
import { publishEdge } from './edge-steps.js';
import { provisionDevice } from './fleet-steps.js';
import {
  changeInBulk,
  deleteInBulk,
  exportList,
  filterList,
  makeManyCredentials,
  saveListView,
  sortList,
} from './list-steps.js';
import { inspectRequest, watchAgentConnect, watchAgentFallSilent, watchBreakerTrip } from './live-steps.js';
import { readCharts, seeFirstSteps, seeStepsTicked, watchEndpointFail } from './overview-steps.js';
import { tryPolicyOnCaptured } from './policy-steps.js';
import { createApiKey, createCredential, deleteCredential } from './secret-steps.js';
import { PASSWORD, signInAgain, signInByLink, signOutAnother } from './sign-in-steps.js';

/** @typedef {import('../support/gateway.js').RunningGateway} RunningGateway */
/** @typedef {Awaited<ReturnType<typeof startUpstream>>} Upstream */
/** @typedef {ReturnType<typeof startAgent>} Agent */

/**
 * @param {any} browser Playwright's
 * @param {RunningGateway} gateway
 */
export async function walkThroughDashboard(browser, gateway) {
  const upstream = await startUpstream();
  /** @type {Agent[]} */
  const agents = [];
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    await walk(browser, context, gateway, upstream, agents);
  } catch (error) {
    const picture = join(mkdtempSync(join(tmpdir(), 'dashboard-')), 'failed.png');
    await context.pages()[0]?.screenshot({ path: picture });
    process.stdout.write(`${agents.map((agent) => agent.output()).join('')}       ${picture}\n`);
    throw error;
  } finally {
    await context.close();
    await Promise.all(agents.map((agent) => agent.stop()));
    upstream.stop();
  }
}

/**
 * @param {any} browser
 * @param {any} context
 * @param {RunningGateway} gateway
 * @param {Upstream} upstream
 * @param {Agent[]} agents receives the agents that are started, for the caller to stop
 */
async function walk(browser, context, gateway, upstream, agents) {
  const { api, https, signInLink } = gateway;
  const record = await recordPages(context);
  const driver = drivePage(await context.newPage(), api);
  const { page, at } = driver;

  await signInByLink(driver, signInLink);
  await seeFirstSteps(driver);
  const apiKey = await createApiKey(driver, (key) => apiClient(api, key)('{ credentials(first: 1) { totalCount } }'));
  const ask = apiClient(api, apiKey);
  const { line, authtoken, url: credential } = await createCredential(driver);
  const start = (/** @type {string} */ command) => void agents.push(startAgent(line, upstream.port, command));
  const address = await watchAgentConnect(driver, () => start('http 3000'));
  const visitors = await browser.newContext();
  const { traffic, request } = await inspectRequest(driver, address, await visitors.newPage());
  await visitors.close();
  await seeStepsTicked(driver);
  await readAuditTrail(driver, ask);
  const edge = await watchBreakerTrip(driver, { ask, start, https, upstream });
  await tryPolicyOnCaptured(driver, { ask, https, edge });
  await provisionDevice(driver, (image, name) => void agents.push(startDevice(image, line, name)));
  await makeManyCredentials(ask);
  await filterList(driver);
  await sortList(driver);
  await saveListView(driver);
  await exportList(driver);
  await changeInBulk(driver, ask);
  await deleteInBulk(driver);
  await watchEndpointFail(driver, address, upstream);
  await readCharts(driver);
  const started = await publishEdge(driver, (shown, command) => {
    agents.push(startAgent(shown, upstream.port, command));
  });

  const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
  const own = [traffic, request, started, credential, `${credential}/edit`].map((url) => url.slice(at('').length));
  const paths = [...own, ...(await screenPaths(ask, edge))];
  const state = await context.storageState();
  const appearance = await checkAppearance(browser, { api, state, paths, directory });
  await checkAppearance(browser, { api, paths: ['sign-in'], directory }, appearance);
  process.stdout.write(`       ${directory}: ${appearance.pictures} pictures of ${paths.length + 1} screens\n`);
  const { findings, tooWide } = appearance;
  expectPromise(
    'axe finds nothing serious on any screen, light or dark, wide or narrow',
    findings.length === 0,
    findings,
  );
  expectPromise('no screen is wider than the window, at 360 pixels neither', tooWide.length === 0, tooWide);

  // SIGSTOP, not SIGKILL: the connection stays open and the agent only stops answering.
  await watchAgentFallSilent(driver, address, () => agents[0]?.signal('SIGSTOP'));
  await deleteCredential(driver, credential);
  const stored = await storedByPage(page);
  await signInAgain(driver);
  const elsewhere = await browser.newContext();
  await signOutAnother(driver, drivePage(await elsewhere.newPage(), api));
  await elsewhere.close();

  const requested = [...record.requested, ...appearance.requested];
  const foreign = requested.filter((url) => !url.startsWith(`${api}/`));
  expectPromise(`no request goes to another host: ${requested.length} requests`, foreign.length === 0, foreign);
  const broken = [...record.broken, ...appearance.broken];
  expectPromise('no page throws, shows an unexpected error or violates its policy', broken.length === 0, broken);
  const token = new URL(signInLink).hash.slice(1);
  const secrets = { apiKey, authtoken, token, cookie: state.cookies[0].value, password: PASSWORD };
  const log = gateway.log();
  const texts = {
    URLs: requested,
    console: [...record.consoleLines, ...appearance.consoleLines],
    stores: [stored],
    log: [log],
  };
  const leaks = findSecretLeaks(secrets, texts);
  expectPromise(
    'no secret is in a URL, the console, the browser’s stores or the gateway’s log',
    leaks.length === 0,
    leaks,
  );

  // Proves that the two checks above can fail: each gets what it must detect.
  const before = record.broken.length;
  await page.evaluate(() => {
    new Image().src = 'http://page.invalid/';
  });
  await until(() => record.broken.length > before, 'a violation of the policy is reported');
  const isFound = findSecretLeaks({ password: PASSWORD }, { page: [`p=${PASSWORD}`] }).length === 1;
  expectPromise(
    'a violation of the policy and a secret would have been found',
    isFound && log.includes('CreateApiKey'),
  );
}
