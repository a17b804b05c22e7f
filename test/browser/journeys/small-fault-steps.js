// Steps around small faults: an early Enter, texts that hide something, a result that is out of date, files, and wrong
// addresses.

import { createEdge } from '../support/edge.js';
import { until } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */
/** @typedef {(query: string, variables?: object) => Promise<any>} Ask */

/** Types in the palette and presses Enter before the gateway has answered. @param {PageDriver} driver @param {Ask} ask */
export async function enterEarly({ page, at }, ask) {
  const {
    createCredential: { credential: createCredential },
  } = await ask('mutation { createCredential(input: { description: "zebra crossing" }) { credential { id } } }');
  await page.goto(at('agents'));
  await page.locator('h1').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('zebra crossing');
  await page.keyboard.press('Enter');
  await page.waitForURL(at(`credentials/${createCredential.id}`));
  expectPromise('Enter in the palette waits for the results of the text that was typed', true);
  await page.locator('h1').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('search for objects').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('new tunnel gr');
  await page.keyboard.press('Enter');
  await page.waitForURL(at('edges/backends/new'));
  expectPromise('the palette has actions, and ? shows the keys', true);
}

/** @param {PageDriver} driver @param {Ask} ask */
export async function seeHidden({ page, at, button }, ask) {
  const description = 'safe\u202etxt.exe';
  const {
    createCredential: { credential: createCredential },
  } = await ask(
    'mutation ($description: String) { createCredential(input: { description: $description }) { credential { id } } }',
    { description },
  );
  await page.goto(at('credentials'));
  await page.getByText('safe⟨U+202E⟩txt.exe').first().waitFor();
  await page.goto(at(`credentials/${createCredential.id}/edit`));
  await page.getByText('characters that cannot be seen: U+202E').waitFor();
  const value = await page.getByLabel('Description').inputValue();
  const html = await page.locator('main').innerText();
  expectPromise(
    'characters that turn or hide text are shown, and a form keeps them as they are',
    value === description && !html.includes('\u202e'),
  );
  await page.goto(at('edges/new/empty'));
  await page.getByRole('textbox', { name: 'name 1' }).fill('not reserved.example.com');
  await button('Create the edge').click();
  const [error = ''] = await page.locator('.field-error, .note.error').allTextContents();
  expectPromise('errors name fields as the form does', error !== '' && !/hostports/.test(error), [error]);
  await page.getByRole('textbox', { name: 'name 1' }).fill('');
}

/** @param {PageDriver} driver @param {Ask} ask */
export async function seeStaleDryRun({ page, at, button }, ask) {
  const { edgeId, routeId } = await createEdge(ask);
  await page.goto(at(`edges/https/${edgeId}/routes/${routeId}/modules/trafficPolicy`));
  const document = page.getByLabel('The document');
  await document.fill(
    'on_http_request:\n  - actions:\n      - type: deny\n        config:\n          status_code: 403\n',
  );
  await button('Try it on this request').click();
  await page.getByText('403').first().waitFor();
  const stale = page.getByText('has changed since it was tried');
  const before = await stale.count();
  await document.fill(
    'on_http_request:\n  - actions:\n      - type: deny\n        config:\n          status_code: 404\n',
  );
  await stale.waitFor();
  await button('Try it again').click();
  await stale.waitFor({ state: 'detached' });
  expectPromise('a dry run is marked as out of date when its document changes', before === 0);
  await button('Cancel').click();
  await button('Discard the changes').click();
}

/** @param {PageDriver} driver @param {Ask} ask */
export async function dropCertificate({ page, at, button }, ask) {
  const { gatewayInfo } = await ask('{ gatewayInfo { caCertificate } }');
  await page.goto(at('edges/authorities/new'));
  const chosen = page.waitForEvent('filechooser');
  await button('Certificate: from a file').click();
  const file = { name: 'ca.pem', mimeType: 'application/x-pem-file', buffer: Buffer.from(gatewayInfo.caCertificate) };
  await (await chosen).setFiles(file);
  const field = page.getByLabel('Certificate', { exact: true });
  const isFilled = () =>
    page.waitForFunction(
      (/** @type {string} */ text) => document.querySelector('textarea')?.value === text,
      gatewayInfo.caCertificate,
    );
  await isFilled();
  await field.fill('');
  await field.evaluate((/** @type {any} */ target, /** @type {string} */ text) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], 'ca.pem'));
    target.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
  }, gatewayInfo.caCertificate);
  await isFilled();
  expectPromise('an authority comes from a file that is chosen or dropped', true);
  await field.fill('');
}

/** Reads a long name in a narrow window. @param {PageDriver} driver @param {Ask} ask */
export async function readLongNames({ page, at }, ask) {
  const description = `a very long name, ${'indeed '.repeat(30)}`.trim();
  await ask(
    'mutation ($description: String) { createCredential(input: { description: $description }) { credential { id } } }',
    {
      description,
    },
  );
  const titles = [];
  // The second one is what 200 % zoom leaves of 1280 pixels.
  for (const width of [900, 640, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(at('credentials'));
    const cell = page.getByRole('rowheader').filter({ hasText: 'a very long name' });
    await cell.hover();
    titles.push(await cell.getAttribute('title'));
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  const isWhole = titles.every((title) => title === description);
  expectPromise('a text that is cut off has a tooltip, in narrow windows and with 200 % zoom', isWhole, titles);
}

/** Looks at an agent that does not update itself. @param {PageDriver} driver @param {Ask} ask */
export async function seeOfferedCommands({ page, at, button }, ask) {
  await until(async () => {
    const { tunnelSessions } = await ask('{ tunnelSessions { nodes { id } } }');
    if (tunnelSessions.nodes.length > 0) await page.goto(at(`agents/${tunnelSessions.nodes[0].id}`));
    return tunnelSessions.nodes.length > 0;
  }, 'an agent is connected');
  await page.getByText('It takes no update: This agent does not replace its own program').waitFor();
  const isRestartable = await button('Restart').isVisible();
  expectPromise(
    'only commands that the agent takes are offered',
    isRestartable && (await button('Update').count()) === 0,
  );
}

const NOWHERE = '2abcdefghijklmnopqrstuvwxyz';
const WRONG = [
  'nowhere',
  'credentials/cr_x/edit/more',
  'agents/tunnels/x/y',
  'domains/a/b/c',
  'endpoints/a/b',
  'traffic/a/b/c',
  'access/nothing',
  'events/nothing',
  'edges/nothing/at/all',
  `credentials/cr_${NOWHERE}`,
  `credentials/cr_${NOWHERE}/edit`,
  `agents/ts_${NOWHERE}`,
  `agents/tunnels/tn_${NOWHERE}`,
  `domains/rd_${NOWHERE}`,
  `domains/certificates/cert_${NOWHERE}`,
  `endpoints/ep_${NOWHERE}`,
  `traffic/ep_${NOWHERE}`,
  `traffic/ep_${NOWHERE}/req_${NOWHERE}`,
  `edges/https/edghts_${NOWHERE}`,
  `edges/https/edghts_${NOWHERE}/routes/new`,
  `edges/https/edghts_${NOWHERE}/routes/edghtsrt_${NOWHERE}`,
  `edges/https/edghts_${NOWHERE}/modules/compression`,
  `edges/https/edghts_${NOWHERE}/modules/nothing`,
  `edges/tls/edgtls_${NOWHERE}`,
  `edges/routes/edghtsrt_${NOWHERE}`,
  ...['bkdtg', 'bkdwd', 'bkdfo', 'bkdhr'].map((prefix) => `edges/backends/${prefix}_${NOWHERE}`),
  `edges/cloud/ep_${NOWHERE}`,
  `edges/authorities/ca_${NOWHERE}`,
  `edges/ip-policies/ipp_${NOWHERE}`,
  `edges/ip-policy-rules/ipr_${NOWHERE}`,
  `events/destinations/ed_${NOWHERE}`,
  `events/destinations/ed_${NOWHERE}/edit`,
  `events/destinations/ed_${NOWHERE}/dead-letters/x`,
  `events/subscriptions/esb_${NOWHERE}`,
  `access/keys/ak_${NOWHERE}`,
  `access/bots/bot_${NOWHERE}`,
  `access/users/usr_${NOWHERE}`,
  `jobs/bj_${NOWHERE}`,
  'access/users/%E0%A4%A',
];

/** @param {PageDriver} driver */
export async function visitWrongAddresses({ page, at }) {
  /** @type {string[]} */
  const silent = [];
  for (const path of WRONG) {
    await page.goto(at(path));
    const says = page.locator('main .empty:has(h2):has(a.button)');
    await says
      .first()
      .waitFor({ timeout: 5000 })
      .catch(async () => silent.push(`${path}: ${await page.locator('body').innerText()}`));
  }
  expectPromise(`${WRONG.length} wrong addresses say what is wrong and where to go`, silent.length === 0, silent);
}
