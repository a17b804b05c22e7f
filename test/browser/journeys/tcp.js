// A TCP address is reserved, and served by an agent with the command that its page shows.

import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAppearance } from '../checks/appearance.js';
import { startAgent } from '../support/agent.js';
import { drivePage, isStillMarked, markPage } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';
import { startUpstream } from '../support/upstream.js';
import { signInByLink } from './sign-in-steps.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function serveAddress(browser, { api, signInLink, agentLine }) {
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
    const address = await reserveAddress(driver, start);
    const state = await context.storageState();
    const paths = [address].map((url) => url.slice(driver.at('').length));
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
 * @returns {Promise<string>} the URL of its page
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
  return page.url();
}

/**
 * Sends a request to a TCP port of this machine. @param {number} port
 * @returns {Promise<string>} the response
 */
async function visitPort(port) {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text;
  });
  socket.end('GET /by-tcp HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n');
  await once(socket, 'close');
  return answer;
}
