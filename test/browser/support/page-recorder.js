// Records what a page does out of sight: its requests, its console, its errors, and what it stores in the browser.

/**
 * @typedef {object} PageRecord
 * @property {string[]} requested the URLs of all requests, with those of its workers and sockets
 * @property {string[]} consoleLines every line of the console
 * @property {string[]} broken exceptions, and violations of the page's Content-Security-Policy
 */

/**
 * Records all pages of a context from now on.
 * @param {any} context Playwright's
 * @returns {Promise<PageRecord>}
 */
export async function recordPages(context) {
  /** @type {PageRecord} */
  const record = { requested: [], consoleLines: [], broken: [] };
  context.on('request', (/** @type {any} */ request) => record.requested.push(request.url()));
  context.on('weberror', (/** @type {any} */ error) => record.broken.push(`broken: ${error.error()}`));
  context.on('console', (/** @type {any} */ message) =>
    record.consoleLines.push(`${message.type()}: ${message.text()}`),
  );
  context.on('page', (/** @type {any} */ page) => {
    page.on('websocket', (/** @type {any} */ socket) => record.requested.push(socket.url()));
  });
  await context.exposeBinding('reportViolation', (/** @type {any} */ _, /** @type {string} */ text) => {
    record.broken.push(`forbidden: ${text}`);
  });
  await context.addInitScript(() => {
    const report = /** @type {any} */ (globalThis).reportViolation;
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, sample }) =>
      report(`${violatedDirective} ${blockedURI} ${sourceFile} ${sample}`),
    );
  });
  return record;
}

/**
 * Everything that a page's origin stores in the browser, except cookies that scripts cannot read.
 * @param {any} page Playwright's
 * @returns {Promise<string>}
 */
export async function storedByPage(page) {
  return page.evaluate(async () => {
    const databases = await indexedDB.databases();
    const stores = [localStorage, sessionStorage].map((store) => JSON.stringify({ ...store }));
    const caches = await globalThis.caches.keys();
    return [...stores, JSON.stringify(databases), JSON.stringify(caches), document.cookie, history.length].join('\n');
  });
}
