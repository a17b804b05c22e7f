// GraphiQL in a browser without internet access: explores the schema with an API key.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectPromise } from '../support/promise.js';

const STEP_MS = 20_000;

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function exploreSchema(browser, { api, apiKey }) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  context.setDefaultTimeout(STEP_MS);
  /** @type {string[]} */
  const requested = [];
  context.on('request', (/** @type {any} */ request) => requested.push(request.url()));
  context.on('weberror', (/** @type {any} */ error) => requested.push(`broken: ${error.error()}`));
  const foreign = () => requested.filter((url) => !url.startsWith(`${api}/`) && !url.startsWith(`blob:${api}/`));
  // What earlier versions of the page stored.
  await context.addInitScript(() => {
    if (location.pathname === '/graphql') localStorage.setItem('graphiql:headers', 'an old key');
  });
  const page = await context.newPage();
  page.on('websocket', (/** @type {any} */ socket) => requested.push(socket.url()));

  await page.goto(`${api}/graphql`);
  await page.locator('.graphiql-query-editor .monaco-editor').waitFor();
  expectPromise('GraphiQL shows its editor', (await page.title()) === 'Tunnel Gateway');

  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  const documentation = page.locator('.graphiql-doc-explorer');
  await documentation.getByText('Query', { exact: true }).first().click();
  await documentation
    .getByText('The credentials of your account, the newest first unless you ask for another order.')
    .waitFor();
  expectPromise('its documentation shows the descriptions of the schema, without an API key', true);

  const execute = page.getByRole('button', { name: /^Execute query/ });
  await execute.click();
  await page.getByRole('menuitem', { name: 'Overview' }).click();
  await page.locator('.graphiql-response').getByText('UNAUTHENTICATED').first().waitFor();
  expectPromise('it offers its examples to run, which show UNAUTHENTICATED without an API key', true);

  const query = '{ credentials(first: 1) { nodes { description owner { __typename } } totalCount } }';
  await write(page, '.graphiql-query-editor', query);
  // Until it has seen that there is but one operation now, the button opens the list of the three.
  await page.locator('.graphiql-tab').getByText('<untitled>').waitFor();

  // The editor of the headers is open at first.
  await write(page, '.graphiql-editor-tool', JSON.stringify({ Authorization: `Bearer ${apiKey}` }));
  await execute.click();
  await page.locator('.graphiql-response').getByText('first agent').waitFor();
  expectPromise('with an API key a query shows data', true);

  await page.waitForFunction((/** @type {string} */ key) => JSON.stringify(sessionStorage).includes(key), apiKey);
  const stored = await page.evaluate(() => JSON.stringify(localStorage));
  expectPromise(
    'the API key is stored for the session only, and nothing is left of earlier versions',
    stored === '{}',
    stored,
  );

  const picture = join(mkdtempSync(join(tmpdir(), 'graphiql-')), 'graphiql.png');
  await page.screenshot({ path: picture });
  process.stdout.write(`       ${picture}\n`);
  expectPromise(
    `GraphiQL does not throw, and no request goes to another host: ${requested.length} requests`,
    foreign().length === 0,
    foreign(),
  );

  const blocked = await page.evaluate((/** @type {number} */ ms) => {
    const report = "addEventListener('securitypolicyviolation', ({ blockedURI }) => postMessage(blockedURI));";
    const worker = new Worker(
      URL.createObjectURL(new Blob([`${report} fetch('http://kept.invalid/').catch(() => {})`])),
    );
    return new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      setTimeout(resolve, ms);
    });
  }, STEP_MS);
  expectPromise(
    'its policy blocks requests of its workers to other hosts',
    String(blocked).startsWith('http://kept.invalid'),
  );

  // Proves that the check above can fail: requests of a page without a policy, and of its worker, are recorded.
  await page.goto(`${api}/openapi.json`);
  await page.evaluate(() => {
    const ask = (/** @type {string} */ host) => `fetch('http://${host}/').catch(() => {})`;
    new Worker(URL.createObjectURL(new Blob([ask('worker.invalid')])));
    new Image().src = 'http://page.invalid/';
  });
  const caught = () => ['http://page.invalid/', 'http://worker.invalid/'].every((url) => foreign().includes(url));
  for (let waited = 0; !caught() && waited < STEP_MS; waited += 50) await page.waitForTimeout(50);
  expectPromise('a request to another host would have been found', caught(), foreign());
}

/**
 * Replaces the text of one of GraphiQL's editors.
 * @param {any} page Playwright's
 * @param {string} selector
 * @param {string} text
 */
async function write(page, selector, text) {
  await page.locator(`${selector} .graphiql-editor:not(.hidden) .monaco-editor`).first().click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}
