// Backends of every kind and a cloud endpoint are made, changed, visited and deleted in the dashboard.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAppearance } from '../checks/appearance.js';
import { startAgent } from '../support/agent.js';
import { apiClient } from '../support/api.js';
import { drivePage, until } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { objectsOf } from '../support/payloads.js';
import { expectPromise } from '../support/promise.js';
import { startUpstream } from '../support/upstream.js';
import { visitName } from '../support/visit.js';
import { changeBackends, deleteBackends, makeFailover, makeResponse, makeWeighted } from './backend-steps.js';
import { answerByPolicy } from './cloud-steps.js';
import { signInByLink } from './sign-in-steps.js';
import { makeStatic } from './static-backend-steps.js';

const HOST = 'front.tunnel.localhost';

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function makeBackends(browser, { api, apiKey, https, signInLink, agentLine }) {
  const upstream = await startUpstream();
  /** @type {ReturnType<typeof startAgent>[]} */
  const agents = [];
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { broken } = await recordPages(context);
  const driver = drivePage(await context.newPage(), api);
  const { page, at, button } = driver;
  const ask = apiClient(api, apiKey);
  const answers = (/** @type {string} */ text) =>
    until(async () => (await visitName(https, HOST)).body.includes(text), `visitors get "${text}"`);
  try {
    await signInByLink(driver, signInLink);
    const edge = await makeEdge(ask);
    const response = await makeResponse(driver);
    const failover = await makeFailover(driver, ask);

    await page.goto(at(`edges/https/${edge}/routes/new`));
    await page.getByLabel('Backend', { exact: true }).selectOption(failover.id);
    await button('Create the route').click();
    await page.waitForURL(/routes\/edghtsrt_/);
    const route = page.url();
    await answers('The shop is closed.');
    const { status, headers } = await visitName(https, HOST);
    const dialed = await makeStatic(driver, ask, upstream.port);
    const goTo = async (/** @type {string} */ backend) => {
      await page.goto(`${route}/modules/backend`);
      await page.getByLabel('Backend', { exact: true }).selectOption(backend);
      await button('Save').click();
      await page.waitForURL(route);
    };
    await goTo(dialed.id);
    await answers('seen GET');
    await goTo(failover.id);
    await answers('The shop is closed.');
    agents.push(startAgent(agentLine, upstream.port, 'labels 3000 --label app=shop'));
    await answers('seen GET');
    expectPromise(
      'visitors of a route get the response of the failover backend until an agent is there',
      status === 503 && headers['retry-after'] === '60',
    );

    const weighted = await makeWeighted(driver);
    await goTo(weighted.id);
    await answers('The shop is closed.');
    await changeBackends(driver, { ask, answers, response, failover, weighted });
    const cloud = await answerByPolicy(driver, { ask, https });

    const state = await context.storageState();
    const lists = ['', '/weighted', '/failover', '/responses', '/static'].flatMap((path) => [
      `edges/backends${path}`,
      `edges/backends${path}/new`,
    ]);
    const made = [response.url, failover.url, weighted.url, dialed.url, cloud.url, cloud.endpointUrl];
    const paths = [...lists, 'edges/cloud', 'edges/cloud/new', 'endpoints'];
    paths.push(...made.map((url) => url.slice(at('').length)));
    const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
    const seen = await checkAppearance(browser, { api, state, paths, directory });
    process.stdout.write(`       ${directory}: ${seen.pictures} pictures\n`);
    const faults = [...seen.findings, ...seen.tooWide, ...seen.broken, ...broken];
    expectPromise('axe finds nothing serious on these screens, and no page throws', faults.length === 0, faults);

    await deleteBackends(driver, { ask, route, all: [weighted, failover, response, dialed] });
    await cloud.remove();
  } catch (error) {
    const picture = join(mkdtempSync(join(tmpdir(), 'dashboard-')), 'failed.png');
    await page.screenshot({ path: picture });
    process.stdout.write(`${agents.map((agent) => agent.output()).join('')}       ${picture}\n`);
    throw error;
  } finally {
    await context.close();
    await Promise.all(agents.map((agent) => agent.stop()));
    upstream.stop();
  }
}

/** @param {(query: string) => Promise<any>} ask @returns {Promise<string>} the id of the edge */
async function makeEdge(ask) {
  const { edge } = objectsOf(
    await ask(`mutation {
    createReservedDomain(input: { domain: "${HOST}" }) { reservedDomain { id } }
    edge: createHttpsEdge(input: { description: "front door", hostports: ["${HOST}:443"] }) { httpsEdge { id } }
  }`),
  );
  return edge.id;
}
