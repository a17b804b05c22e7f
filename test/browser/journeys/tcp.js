// A TCP address is reserved, served by an agent with the command that its page shows, and then by a TCP edge.

import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAppearance } from '../checks/appearance.js';
import { startAgent } from '../support/agent.js';
import { apiClient } from '../support/api.js';
import { drivePage, isStillMarked, markPage, until } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { objectsOf } from '../support/payloads.js';
import { expectPromise } from '../support/promise.js';
import { startUpstream } from '../support/upstream.js';
import { signInByLink } from './sign-in-steps.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function serveAddress(browser, { api, apiKey, signInLink, agentLine }) {
  const upstream = await startUpstream();
  /** @type {ReturnType<typeof startAgent>[]} */
  const agents = [];
  const start = (/** @type {string} */ command) => {
    const agent = startAgent(agentLine, upstream.port, command);
    agents.push(agent);
    return agent;
  };
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { broken } = await recordPages(context);
  const driver = drivePage(await context.newPage(), api);
  try {
    await signInByLink(driver, signInLink);
    const { address, port } = await reserveAddress(driver, start);
    const edge = await makeEdge(driver, apiClient(api, apiKey));
    const endpoint = await serveEdge(driver, edge, port, start);
    const state = await context.storageState();
    const pages = [address, edge, `${edge}/modules/trafficPolicy`, `${edge}/modules/backend`, endpoint];
    const paths = ['edges/tcp', 'domains/addresses', ...pages.map((url) => url.slice(driver.at('').length))];
    const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
    const seen = await checkAppearance(browser, { api, state, paths, directory });
    process.stdout.write(`       ${directory}: ${seen.pictures} pictures\n`);
    const faults = [...seen.findings, ...seen.tooWide, ...seen.broken, ...broken];
    expectPromise('axe finds nothing serious on the screens of TCP, and no page throws', faults.length === 0, faults);
  } catch (error) {
    process.stdout.write(agents.map((agent) => agent.output()).join(''));
    throw error;
  } finally {
    await context.close();
    await Promise.all(agents.map((agent) => agent.stop()));
    upstream.stop();
  }
}

/**
 * Reserves an address, and starts an agent with the command that is shown for it.
 * @param {PageDriver} driver
 * @param {(command: string) => ReturnType<typeof startAgent>} start
 * @returns {Promise<{ address: string, port: number }>} the URL of its page, and its port
 */
async function reserveAddress(driver, start) {
  const { page, at, button } = driver;
  await page.goto(at('domains/addresses/new'));
  await page.getByText('tcp 22 --port N', { exact: true }).waitFor();
  await page.getByLabel('Description').fill('the shell');
  await button('Reserve the address').click();
  await page.getByText('nobody serves it').waitFor();
  const line = (await page.locator('.start-command code').first().textContent()).trim();
  const [, command = '', port = ''] = / (tcp 22 --port (\d+))$/.exec(line) ?? [];
  await markPage(driver);
  const agent = start(command.replace('22', '3000'));
  await page.getByText('served by an agent').waitFor();
  const isServed = (await visitPort(Number(port))).includes('seen GET /by-tcp');
  expectPromise('a reserved address is served with the command that its page shows', isServed, [line]);
  await agent.stop();
  await page.getByText('nobody serves it').waitFor();
  expectPromise('its page follows who serves it, without a reload', await isStillMarked(driver));
  return { address: page.url(), port: Number(port) };
}

/**
 * Makes a TCP edge at the address, with a backend, and tries a policy for it.
 * @param {PageDriver} driver
 * @param {(query: string) => Promise<any>} ask
 * @returns {Promise<string>} the URL of its page
 */
async function makeEdge({ page, at, button, heading }, ask) {
  const { group } = objectsOf(
    await ask(
      'mutation { group: createTunnelGroupBackend(input: { description: "shells", labels: { app: "shell" } }) { tunnelGroupBackend { id } } }',
    ),
  );
  await page.goto(at('edges/tcp'));
  await page.getByRole('link', { name: 'New TCP edge' }).first().click();
  await page.getByRole('button', { name: /^Add tunnel\.localhost:/ }).click();
  await page.getByLabel('Description').fill('all shells');
  await button('Create the edge').click();
  await heading('tunnel.localhost:').waitFor();
  const url = page.url();
  await page.getByRole('link', { name: 'Set up Backend' }).click();
  await page.getByLabel('Backend', { exact: true }).selectOption(group.id);
  await button('Set the backend').click();
  await page.waitForURL(url);
  await page.getByText('no tunnel', { exact: true }).waitFor();
  await page.goto(`${url}/modules/trafficPolicy`);
  await page.getByLabel('Begin with an example').selectOption('Let in one network only');
  await page.getByText('Nothing is wrong with it.').waitFor();
  await button('Try it on this connection').click();
  await page.getByText('restrict-ips').first().waitFor();
  const { tcpEdges } = await ask('{ tcpEdges { nodes { hostports backend { enabled } trafficPolicy { value } } } }');
  const [made] = tcpEdges.nodes;
  const isMade = made.hostports.length === 1 && made.backend.enabled && made.trafficPolicy === null;
  expectPromise('a TCP edge is made at a reserved address, and a policy is tried for it unsaved', isMade);
  return url;
}

/**
 * Serves the edge, and sees that on its page and in the list of endpoints.
 * @param {PageDriver} driver
 * @param {string} edge the URL of its page
 * @param {number} port
 * @param {(command: string) => void} start starts an agent
 * @returns {Promise<string>} the URL of the page of its endpoint
 */
async function serveEdge(driver, edge, port, start) {
  const { page, at, heading } = driver;
  // The text of the document was not saved.
  page.once('dialog', (/** @type {any} */ dialog) => dialog.accept());
  await page.goto(edge);
  await page.getByText('no tunnel', { exact: true }).waitFor();
  await markPage(driver);
  start('labels 3000 --label app=shell');
  await page.getByText('1 tunnel', { exact: true }).waitFor();
  const isLive = await isStillMarked(driver);
  await until(async () => (await visitPort(port)).includes('seen GET /by-tcp'), 'the edge answers');
  expectPromise('its page shows without a reload that an agent serves it, and visitors reach that', isLive);
  await page.goto(at('endpoints'));
  const row = page.getByRole('row').filter({ hasText: `tcp://tunnel.localhost:${port}` });
  await row.getByRole('link', { name: 'edge', exact: true }).click();
  await page.waitForURL(edge);
  await page.goBack();
  await row.getByRole('link').first().click();
  await heading(`tcp://tunnel.localhost:${port}`).waitFor();
  await page.getByRole('link', { name: 'all shells' }).waitFor();
  expectPromise('its endpoint leads to the edge', true);
  return page.url();
}

/**
 * Sends a request to a TCP port of this machine. @param {number} port
 * @returns {Promise<string>} the response; '' if there is none
 */
async function visitPort(port) {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text;
  });
  socket.end('GET /by-tcp HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n');
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}
