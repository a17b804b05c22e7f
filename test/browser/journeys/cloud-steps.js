// Steps with a cloud endpoint: its policy is tried, answers visitors, keeps its secret, and is changed.

import { until } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';
import { visitName } from '../support/visit.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

const HOST = 'door.tunnel.localhost';
const PASSWORD = 'a-long-password';
const GUARDED = `on_http_request:
  - actions:
      - type: basic-auth
        config:
          credentials:
            - guest:${PASSWORD}
      - type: custom-response
        config:
          status_code: 200
          body: Come in.
`;

/**
 * @param {PageDriver} driver
 * @param {object} with_
 * @param {(query: string, variables?: object) => Promise<any>} with_.ask
 * @param {string} with_.https host and port of the listener
 * @returns {Promise<{ url: string, endpointUrl: string, remove: () => Promise<void> }>} the pages of its settings and its traffic
 */
export async function answerByPolicy({ page, at, button, heading }, { ask, https }) {
  await page.goto(at('endpoints'));
  await page.getByRole('link', { name: 'New cloud endpoint' }).click();
  const name = page.getByLabel('Endpoint URL', { exact: true });
  await name.fill(HOST);
  await button('Create the cloud endpoint').click();
  const unreserved = page.locator('.field-error').filter({ hasText: HOST });
  await unreserved.waitFor();
  await page.goto(at('domains/new'));
  await page.getByLabel('Domain', { exact: true }).fill(HOST);
  await button('Reserve the domain').click();
  await heading(HOST).waitFor();

  await page.goto(at('edges/cloud/new'));
  await button('Discard the draft').click();
  await button(`Use ${HOST}`).click();
  await page.getByLabel('Begin with an example').selectOption('A notice for everybody');
  await button('Try it on this request').click();
  await page.getByText('The policy answers it by itself.').waitFor();
  await button('Create the cloud endpoint').click();
  await heading(HOST).waitFor();
  const url = page.url();
  const { status, body } = await visitUntil((seen) => seen.status === 503);
  expectPromise(
    'a policy is tried, saved as a cloud endpoint at a reserved name, and answers its visitors',
    status === 503 && body === 'Back at noon.',
    [body],
  );

  const policy = page.getByLabel('Traffic policy', { exact: true });
  await policy.fill('on_tcp_connect: []\n');
  await page.getByText('is not for a route, nor for a cloud endpoint').waitFor();
  await policy.fill(GUARDED);
  await page.getByText('Nothing is wrong with it.').waitFor();
  await button('Save').click();
  await page.getByText('The cloud endpoint is changed.').waitFor();
  await until(async () => !(await policy.inputValue()).includes(PASSWORD), 'the secret is hidden');
  const authorization = `Basic ${Buffer.from(`guest:${PASSWORD}`).toString('base64')}`;
  const refused = await visitUntil((seen) => seen.status === 401);
  // The text with the mask is another one: it is saved with the secret that is stored, and can be tried with it.
  await policy.fill((await policy.inputValue()).replace('Come in.', 'Welcome.'));
  await page.getByText('Nothing is wrong with it.').waitFor();
  await button('Add a header field').first().click();
  await page.getByLabel('Name of header field 1').fill('authorization');
  await page.getByLabel('Value of header field 1').fill(authorization);
  await button('Try it on this request').click();
  await page.locator('.message').filter({ hasText: 'Welcome.' }).waitFor();
  await button('Save').click();
  const admitted = await visitUntil((seen) => seen.body === 'Welcome.', { authorization });
  expectPromise(
    'its secrets are hidden once they are stored, and stay when the policy is tried and changed around them',
    refused.status === 401 && admitted.status === 200,
  );

  await tryOnCaptured();

  await page.goto(at('endpoints'));
  const row = page.getByRole('row').filter({ hasText: HOST });
  await row.getByText('policy answers').waitFor();
  await row.getByRole('link').first().click();
  await heading(HOST).waitFor();
  const endpointUrl = page.url();
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.waitForURL(url);

  /** Fills the dry run with a request that was captured: from the form, and from the page of the request. */
  async function tryOnCaptured() {
    const id = url.slice(url.lastIndexOf('/') + 1);
    await ask('mutation ($id: ID!) { startTrafficCapture(endpointId: $id, input: {}) { trafficCapture { isOn } } }', {
      id,
    });
    await visitName(https, HOST);
    const sample = page.getByLabel('URL', { exact: true });
    const isFilled = async () =>
      until(async () => (await sample.inputValue()).includes(HOST), 'the request is in the form');
    await page.reload();
    await sample.fill('https://other.example/');
    await button('Use a captured request').click();
    await page.getByRole('dialog').getByRole('button', { name: /^GET / }).first().click();
    await isFilled();
    await page.goto(at(`traffic/${id}`));
    await page.getByRole('row').filter({ hasText: 'GET /' }).getByRole('link').first().click();
    await page.getByRole('link', { name: 'The cloud endpoint' }).click();
    await isFilled();
    await ask('mutation ($id: ID!) { stopTrafficCapture(endpointId: $id) { trafficCapture { isOn } } }', { id });
    expectPromise('its policy is tried on a captured request, from its own page and from that of the request', true);
  }

  async function remove() {
    await page.goto(url);
    await button('Delete').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill(HOST);
    await button('Delete the cloud endpoint').click();
    await page.getByText('No cloud endpoints yet').waitFor();
    // The name is still the account's, and nobody serves it.
    await visitUntil(({ body }) => body.startsWith('ERR_GATEWAY_90100'));
    expectPromise('a cloud endpoint is deleted by its name, and answers no more', true);
  }

  /** @param {(seen: Awaited<ReturnType<typeof visitName>>) => boolean} isExpected @param {Record<string, string>} [headers] */
  async function visitUntil(isExpected, headers) {
    let seen = { status: 0, headers: {}, body: '' };
    await until(async () => {
      seen = await visitName(https, HOST, headers).catch(() => seen);
      return isExpected(seen);
    }, `visitors of ${HOST} get another answer`);
    return seen;
  }

  return { url, endpointUrl, remove };
}
