// A page of the dashboard, with the locators that the journeys use.

/**
 * @typedef {object} PageDriver
 * @property {any} page Playwright's
 * @property {(path: string) => string} at the URL of a path below /dashboard/
 * @property {(name: string) => any} button
 * @property {(name: string) => any} heading
 * @property {(name: string) => Promise<void>} go follows a link of the navigation
 */

const STEP_MS = 20_000;

/**
 * @param {any} page Playwright's
 * @param {string} api
 * @returns {PageDriver}
 */
export function drivePage(page, api) {
  page.setDefaultTimeout(STEP_MS);
  const navigation = page.getByRole('navigation', { name: 'Places' });
  return {
    page,
    at: (path) => `${api}/dashboard/${path}`,
    button: (name) => page.getByRole('button', { name, exact: true }),
    heading: (name) => page.getByRole('heading', { name }),
    go: (name) => navigation.getByRole('link', { name }).click(),
  };
}

/** Marks the page, so that `isStillMarked` can tell whether it was reloaded. @param {PageDriver} driver */
export async function markPage({ page }) {
  await page.evaluate(() => Object.assign(globalThis, { isMarked: true }));
}

/** @param {PageDriver} driver @returns {Promise<boolean>} */
export function isStillMarked({ page }) {
  return page.evaluate(() => 'isMarked' in globalThis);
}

/**
 * Waits until a condition holds.
 * @param {() => Promise<boolean> | boolean} holds
 * @param {string} what the condition, for the error's message
 * @param {number} [limitMs]
 * @throws {Error} after that time.
 */
export async function until(holds, what, limitMs = STEP_MS) {
  for (const end = Date.now() + limitMs; !(await holds()); ) {
    if (Date.now() > end) throw new Error(`${what}: not within ${limitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
