// Three tabs of a dashboard that somebody else has built follow twelve things live, and still get answers: browsers open six
// connections to a host, over all tabs, and a WebSocket is none of them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiClient } from '../support/api.js';
import { root } from '../support/gateway.js';
import { until } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';

const LIBRARY = readFileSync(join(root, 'node_modules/graphql-ws/umd/graphql-ws.min.js'), 'utf8');
const TABS = 3;
const SUBSCRIPTIONS = 4;
const STEP_MS = 20_000;

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function followInThreeTabs(browser, { api, apiKey }) {
  const context = await browser.newContext();
  context.setDefaultTimeout(STEP_MS);
  try {
    /** @type {any[]} */
    const tabs = [];
    for (let count = 0; count < TABS; count++) {
      const tab = await context.newPage();
      await tab.goto(`${api}/openapi.json`); // A document of the gateway's origin, which asks for nothing itself.
      await tab.evaluate(LIBRARY);
      await tab.evaluate(follow, { apiKey, count: SUBSCRIPTIONS });
      tabs.push(tab);
    }
    const toldOf = async (/** @type {string} */ id) => {
      const told = await Promise.all(tabs.map((tab) => tab.evaluate(countOf, id)));
      return told.reduce((sum, count) => sum + count, 0) === TABS * SUBSCRIPTIONS;
    };
    await until(() => toldOf(''), 'each subscription begins with a mark');
    const answers = await Promise.all(tabs.map((tab) => tab.evaluate(ask, { apiKey, ms: STEP_MS })));
    const failed = answers.filter((answer) => answer !== 'true');
    expectPromise(
      'with twelve subscriptions in three tabs, each tab gets an answer to a query',
      failed.length === 0,
      failed,
    );

    const { createCredential } = await apiClient(
      api,
      apiKey,
    )('mutation { createCredential(input: {}) { credential { id } } }');
    await until(() => toldOf(createCredential.credential.id), 'all twelve are told of a change');
    expectPromise('all twelve are told of a change', true);
  } finally {
    await context.close();
  }
}

// The following run in the page.

/** Subscribes, over one WebSocket. @param {{ apiKey: string, count: number }} _ */
function follow({ apiKey, count }) {
  const page = /** @type {any} */ (globalThis);
  page.told = [];
  const url = `${location.origin.replace('http', 'ws')}/graphql`;
  const client = page.graphqlWs.createClient({ url, connectionParams: { Authorization: `Bearer ${apiKey}` } });
  const query = 'subscription { credentialChanged(mark: true) { objectId } }';
  for (let number = 0; number < count; number++)
    client.subscribe(
      { query },
      {
        next: (/** @type {any} */ { data }) => page.told.push(data.credentialChanged.objectId),
        error: (/** @type {unknown} */ error) => page.told.push(String(error)),
        complete() {},
      },
    );
}

/** How many subscriptions have been told of an object. @param {string} id */
function countOf(id) {
  return /** @type {any} */ (globalThis).told.filter((/** @type {string} */ told) => told === id).length;
}

/** Asks by HTTP. @param {{ apiKey: string, ms: number }} _ @returns {Promise<string>} 'true', or what went wrong. */
async function ask({ apiKey, ms }) {
  try {
    const answer = await fetch('/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ query: '{ viewer { isAdmin } }' }),
      signal: AbortSignal.timeout(ms),
    });
    return String((await answer.json()).data.viewer.isAdmin);
  } catch (error) {
    return String(error);
  }
}
