// Steps that try a traffic policy on a captured request.

import { DOMAIN, visitEdge } from '../support/edge.js';
import { until } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/**
 * Fills the dry run of a route's policy with a captured request: from there, and from the page of the request. @param {PageDriver} driver
 * @param {object} with_
 * @param {(query: string, variables?: object) => Promise<any>} with_.ask
 * @param {string} with_.https host and port of the listener
 * @param {{ edgeId: string, routeId: string }} with_.edge
 */
export async function tryPolicyOnCaptured({ page, at, button }, { ask, https, edge }) {
  const { endpoints } = await ask('{ endpoints { nodes { id edge { id } } } }');
  const { id } = endpoints.nodes.find((/** @type {any} */ endpoint) => endpoint.edge?.id === edge.edgeId);
  await ask('mutation ($id: ID!) { startTrafficCapture(endpointId: $id, input: {}) { trafficCapture { isOn } } }', {
    id,
  });
  await visitEdge(https);
  const sampleUrl = page.getByLabel('URL', { exact: true });
  const isFilled = () =>
    until(async () => (await sampleUrl.inputValue()).startsWith(`https://${DOMAIN}/`), 'the request is in the form');

  await page.goto(at(`edges/https/${edge.edgeId}/routes/${edge.routeId}/modules/trafficPolicy`));
  await sampleUrl.fill('https://other.example/');
  await button('Use a captured request').click();
  await page.getByRole('dialog').getByRole('button', { name: /^GET / }).first().click();
  await isFilled();
  await page.goto(at(`traffic/${id}`));
  await page.getByRole('row').filter({ hasText: 'GET /' }).getByRole('link').first().click();
  await page
    .getByRole('link', { name: /^Route / })
    .first()
    .click();
  await isFilled();
  expectPromise('a policy is tried on a captured request, from its own page and from that of the request', true);
  await ask('mutation ($id: ID!) { stopTrafficCapture(endpointId: $id) { trafficCapture { isOn } } }', { id });
}
