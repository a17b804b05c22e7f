// The page /docs in a browser without internet access: an operation with its examples, in both dialects.

import { expectPromise } from '../support/promise.js';

const STEP_MS = 20_000;

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function readReference(browser, { api }) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  context.setDefaultTimeout(STEP_MS);
  /** @type {string[]} */
  const requested = [];
  /** @type {string[]} */
  const mistakes = [];
  context.on('request', (/** @type {any} */ request) => requested.push(request.url()));
  context.on('weberror', (/** @type {any} */ error) => mistakes.push(String(error.error())));
  const page = await context.newPage();
  await page.exposeFunction('reportViolation', (/** @type {string} */ text) => mistakes.push(text));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
      /** @type {any} */ (globalThis).reportViolation(`${violatedDirective} ${blockedURI} ${sample}`),
    );
  });

  for (const dialect of ['documented', 'extended']) {
    await page.goto(`${api}/docs?dialect=${dialect}#get-/credentials/-id-`);
    const operation = page.locator('rapi-doc');
    await operation.getByText('curl -fsS').first().waitFor();
    await operation.getByRole('button', { name: 'Python', exact: true }).first().click();
    await operation.getByText('import urllib.request').first().waitFor();
    expectPromise(`/docs shows an operation of the ${dialect} dialect with its examples`, true);
  }
  const foreign = requested.filter((url) => !url.startsWith(`${api}/`) && !url.startsWith('data:'));
  expectPromise(
    `/docs does not throw, breaks no policy, and asks no other host: ${requested.length} requests`,
    foreign.length === 0 && mistakes.length === 0,
    [...foreign, ...mistakes],
  );

  // Proves that the checks above can fail.
  await page.evaluate(() => {
    new Image().src = 'http://page.invalid/';
  });
  for (let waited = 0; mistakes.length === 0 && waited < STEP_MS; waited += 50) await page.waitForTimeout(50);
  expectPromise(
    'a break of the policy would have been found',
    mistakes.some((text) => /page\.invalid/.test(text)),
    mistakes,
  );
}
