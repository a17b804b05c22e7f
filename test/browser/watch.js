// What a page does besides what one sees: whom it asks, what it keeps, and what it says in the console.

/**
 * @typedef {object} Watch
 * @property {string[]} requested every URL that was asked for, with those of its workers and sockets
 * @property {string[]} said every line of the console
 * @property {string[]} broken exceptions, and what the policy of the page forbade
 */

/**
 * @param {any} context Playwright's
 * @returns {Promise<Watch>}
 */
export async function watch(context) {
  /** @type {Watch} */
  const seen = { requested: [], said: [], broken: [] };
  context.on('request', (/** @type {any} */ request) => seen.requested.push(request.url()));
  context.on('weberror', (/** @type {any} */ error) => seen.broken.push(`broken: ${error.error()}`));
  context.on('console', (/** @type {any} */ message) => seen.said.push(`${message.type()}: ${message.text()}`));
  context.on('page', (/** @type {any} */ page) => {
    page.on('websocket', (/** @type {any} */ socket) => seen.requested.push(socket.url()));
  });
  await context.exposeBinding('tellViolation', (/** @type {any} */ _, /** @type {string} */ text) => {
    seen.broken.push(`forbidden: ${text}`);
  });
  await context.addInitScript(() => {
    const tell = /** @type {any} */ (globalThis).tellViolation;
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, sample }) =>
      tell(`${violatedDirective} ${blockedURI} ${sourceFile} ${sample}`),
    );
  });
  return seen;
}

/**
 * Everything that a page's origin keeps in the browser, but its cookies.
 * @param {any} page Playwright's
 * @returns {Promise<string>}
 */
export async function keptBy(page) {
  return page.evaluate(async () => {
    const databases = await indexedDB.databases();
    const stores = [localStorage, sessionStorage].map((store) => JSON.stringify({ ...store }));
    const caches = await globalThis.caches.keys();
    return [...stores, JSON.stringify(databases), JSON.stringify(caches), document.cookie, history.length].join('\n');
  });
}
