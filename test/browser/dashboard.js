// The dashboard in a browser, from the link that a first start prints to the credential that is deleted: with a real
// gateway, real agents and real visitors.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgent } from './agent.js';
import { apiOf } from './api.js';
import { handOn, until } from './hand.js';
import { leaksOf } from './leaks.js';
import { lookAtAll } from './looks.js';
import { placesOf } from './places.js';
import { said } from './said.js';
import { PASSWORD, signInAgain, signInByLink } from './sign-in.js';
import { seeAgentCome, seeAgentGo, seeBreakerTrip, seeRequest } from './steps-live.js';
import { deleteCredential, makeApiKey, makeCredential } from './steps-secrets.js';
import { startUpstream } from './upstream.js';
import { keptBy, watch } from './watch.js';

/** @typedef {import('./gateway.js').RunningGateway} RunningGateway */
/** @typedef {Awaited<ReturnType<typeof startUpstream>>} Upstream */
/** @typedef {ReturnType<typeof startAgent>} Agent */

/**
 * @param {any} browser Playwright's
 * @param {RunningGateway} gateway
 */
export async function walkDashboard(browser, gateway) {
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
 * @param {Agent[]} agents those that are started
 */
async function walk(browser, context, gateway, upstream, agents) {
  const { api, https, signInLink } = gateway;
  const seen = await watch(context);
  const hand = handOn(await context.newPage(), api);
  const { page, at } = hand;

  await signInByLink(hand, signInLink);
  const apiKey = await makeApiKey(hand, (key) => apiOf(api, key)('{ credentials(first: 1) { totalCount } }'));
  const ask = apiOf(api, apiKey);
  const { line, authtoken, url: credential } = await makeCredential(hand);
  const start = (/** @type {string} */ command) => void agents.push(startAgent(line, upstream.port, command));
  const address = await seeAgentCome(hand, () => start('http 3000'));
  const visitors = await browser.newContext();
  const { traffic, request } = await seeRequest(hand, address, await visitors.newPage());
  await visitors.close();
  const edge = await seeBreakerTrip(hand, { ask, start, https, upstream });

  const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
  const own = [traffic, request, credential, `${credential}/edit`].map((url) => url.slice(at('').length));
  const places = [...own, ...(await placesOf(ask, edge))];
  const state = await context.storageState();
  const looks = await lookAtAll(browser, { api, state, places, directory });
  await lookAtAll(browser, { api, places: ['sign-in'], directory }, looks);
  process.stdout.write(`       ${directory}: ${looks.pictures} pictures of ${places.length + 1} screens\n`);
  const { findings, tooWide } = looks;
  said('axe finds nothing serious on any screen, light or dark, wide or narrow', findings.length === 0, findings);
  said('no screen is wider than the window, at 360 pixels neither', tooWide.length === 0, tooWide);

  // Not the agent's end, which its machine would tell: it just says nothing any more.
  await seeAgentGo(hand, address, () => agents[0]?.signal('SIGSTOP'));
  await deleteCredential(hand, credential);
  const kept = await keptBy(page);
  await signInAgain(hand);

  const requested = [...seen.requested, ...looks.requested];
  const foreign = requested.filter((url) => !url.startsWith(`${api}/`));
  said(`no other host was asked: ${requested.length} requests`, foreign.length === 0, foreign);
  const broken = [...seen.broken, ...looks.broken];
  said('nothing broke, and the policy of the page forbade nothing', broken.length === 0, broken);
  const token = new URL(signInLink).hash.slice(1);
  const secrets = { apiKey, authtoken, token, cookie: state.cookies[0].value, password: PASSWORD };
  const log = gateway.log();
  const texts = { URLs: requested, console: [...seen.said, ...looks.said], stores: [kept], log: [log] };
  const leaks = leaksOf(secrets, texts);
  said('no secret is in a URL, the console, the browser’s stores or the gateway’s log', leaks.length === 0, leaks);

  // Checks that cannot fail are none: each of them is shown what it is there for.
  const before = seen.broken.length;
  await page.evaluate(() => {
    new Image().src = 'http://page.invalid/';
  });
  await until(() => seen.broken.length > before, 'what the policy forbids is told');
  const isFound = leaksOf({ password: PASSWORD }, { page: [`p=${PASSWORD}`] }).length === 1;
  said('what the policy forbids, and a secret, would have been found', isFound && log.includes('CreateApiKey'));
}
