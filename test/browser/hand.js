// Where the walk is, and what it reaches for again and again.

/**
 * @typedef {object} Hand
 * @property {any} page Playwright's
 * @property {(place: string) => string} at the URL of a place below /dashboard/
 * @property {(name: string) => any} button
 * @property {(name: string) => any} heading
 * @property {(name: string) => Promise<void>} go to a place of the navigation
 */

const STEP_MS = 20_000;

/**
 * @param {any} page Playwright's
 * @param {string} api
 * @returns {Hand}
 */
export function handOn(page, api) {
  page.setDefaultTimeout(STEP_MS);
  const places = page.getByRole('navigation', { name: 'Places' });
  return {
    page,
    at: (place) => `${api}/dashboard/${place}`,
    button: (name) => page.getByRole('button', { name, exact: true }),
    heading: (name) => page.getByRole('heading', { name }),
    go: (name) => places.getByRole('link', { name }).click(),
  };
}

/** Marks the page as it is now: a reload would forget it. @param {Hand} hand */
export async function mark({ page }) {
  await page.evaluate(() => Object.assign(globalThis, { isMarked: true }));
}

/** @param {Hand} hand @returns {Promise<boolean>} */
export function isMarked({ page }) {
  return page.evaluate(() => 'isMarked' in globalThis);
}

/**
 * @param {() => Promise<boolean> | boolean} holds
 * @param {string} what
 */
export async function until(holds, what) {
  for (const end = Date.now() + STEP_MS; !(await holds()); ) {
    if (Date.now() > end) throw new Error(`${what}: not within ${STEP_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
