// `npm run test:browser`: opens GraphiQL of a real gateway in headless Chromium, as somebody without internet would, and
// explores the schema with an API key. Says that it was skipped where there is no Chromium.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from './gateway.js';

const STEP_MS = 20_000;
const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executablePath = places.find((place) => place && existsSync(place));
if (!executablePath) {
  process.stdout.write('Skipped: there is no Chromium here (Debian: apt-get install chromium; or set CHROMIUM)\n');
  process.exit(0);
}
install();

// By its place, as only this directory has it.
const { chromium } = await import(join(import.meta.dirname, 'node_modules/playwright-core/index.mjs'));
const gateway = await startGateway();
const browser = await chromium.launch({
  executablePath,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // No other host has an address: what asks for one is seen, and gets nothing.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  ],
});
try {
  await explore();
} catch (error) {
  process.stdout.write(`FAILED ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  await browser.close();
  await gateway.stop();
}

async function explore() {
  const { api, apiKey } = gateway;
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  context.setDefaultTimeout(STEP_MS);
  /** @type {string[]} */
  const requested = [];
  context.on('request', (/** @type {any} */ request) => requested.push(request.url()));
  context.on('weberror', (/** @type {any} */ error) => requested.push(`broken: ${error.error()}`));
  const foreign = () => requested.filter((url) => !url.startsWith(`${api}/`) && !url.startsWith(`blob:${api}/`));
  const page = await context.newPage();
  page.on('websocket', (/** @type {any} */ socket) => requested.push(socket.url()));

  await page.goto(`${api}/graphql`);
  await page.locator('.graphiql-query-editor .monaco-editor').waitFor();
  said('GraphiQL shows its editor', (await page.title()) === 'Tunnel Gateway');

  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  const documentation = page.locator('.graphiql-doc-explorer');
  await documentation.getByText('Query', { exact: true }).first().click();
  await documentation.getByText('The credentials of your account, the newest first.').waitFor();
  said('its documentation has our descriptions, without an API key', true);

  const query = '{ credentials(first: 1) { nodes { description owner { __typename } } totalCount } }';
  await write(page, '.graphiql-query-editor', query);
  const execute = page.getByRole('button', { name: /^Execute query/ });
  await execute.click();
  await page.locator('.graphiql-response').getByText('UNAUTHENTICATED').waitFor();
  said('without an API key it shows what is missing', true);

  // Its editor of headers is the one that is open at first.
  await write(page, '.graphiql-editor-tool', JSON.stringify({ Authorization: `Bearer ${apiKey}` }));
  await execute.click();
  await page.locator('.graphiql-response').getByText('first agent').waitFor();
  said('with an API key it shows data', true);

  const picture = join(mkdtempSync(join(tmpdir(), 'graphiql-')), 'graphiql.png');
  await page.screenshot({ path: picture });
  process.stdout.write(`       ${picture}\n`);
  said(`nothing broke, and no other host was asked: ${requested.length} requests`, foreign().length === 0, foreign());

  // A check that cannot fail is none: what a page, or a worker of it, asks of another host is seen.
  await page.evaluate(() => {
    const ask = (/** @type {string} */ host) => `fetch('http://${host}/').catch(() => {})`;
    new Worker(URL.createObjectURL(new Blob([ask('worker.invalid')])));
    new Image().src = 'http://page.invalid/';
  });
  const caught = () => ['http://page.invalid/', 'http://worker.invalid/'].every((url) => foreign().includes(url));
  for (let waited = 0; !caught() && waited < STEP_MS; waited += 50) await page.waitForTimeout(50);
  said('a request to another host would have been seen', caught(), foreign());
}

/**
 * Puts a text into one of GraphiQL's editors, in place of what it has.
 * @param {any} page Playwright's
 * @param {string} place a selector
 * @param {string} text
 */
async function write(page, place, text) {
  await page.locator(`${place} .graphiql-editor:not(.hidden) .monaco-editor`).first().click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

/**
 * @param {string} promise
 * @param {boolean} isKept
 * @param {string[]} [found] what breaks it
 */
function said(promise, isKept, found = []) {
  if (!isKept) throw new Error([promise, ...found].join('\n       '));
  process.stdout.write(`ok     ${promise}\n`);
}

function install() {
  const lock = join(import.meta.dirname, 'package-lock.json');
  const stamp = join(import.meta.dirname, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === readFileSync(lock, 'utf8')) return;
  process.stderr.write('Installing playwright-core (npm ci in test/browser)\n');
  const args = ['ci', '--ignore-scripts', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: import.meta.dirname, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    process.stdout.write('FAILED playwright-core could not be installed\n');
    process.exit(1);
  }
  copyFileSync(lock, stamp);
}
