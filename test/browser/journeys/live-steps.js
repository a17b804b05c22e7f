// Steps that watch live updates: an endpoint appears, requests pass, a circuit breaker trips, an agent stops answering.

import { createEdge, edgeCommand, visitEdge } from '../support/edge.js';
import { isStillMarked, markPage, until } from '../support/page-driver.js';
import { expectPromise } from '../support/promise.js';

/** @typedef {import('../support/page-driver.js').PageDriver} PageDriver */

/** A heartbeat is sent every 10 s and waits 15 s at most; the other 5 s are for a slow machine. */
const HEARTBEAT_TOLERANCE_MS = 30_000;
const ROUND_TRIPS_MS = 40_000;
const VISITS_TO_TRIP = 8;

/**
 * Starts an agent and waits for its endpoint. @param {PageDriver} driver
 * @param {() => void} start
 * @returns {Promise<string>} the public URL of the endpoint
 */
export async function watchAgentConnect(driver, start) {
  await driver.go('Endpoints');
  await driver.heading('Nothing is online').waitFor();
  await markPage(driver);
  start();
  const row = rowOf(driver, 'tunnel.localhost');
  await row.waitFor();
  expectPromise('the endpoint of an agent appears without a reload', await isStillMarked(driver));
  await row.locator('.dot.live').waitFor({ timeout: ROUND_TRIPS_MS });
  expectPromise('an endpoint is green after the first heartbeat came back', true);
  return row.getByRole('link').first().textContent();
}

/**
 * Inspects a captured request of a visitor and replays it. @param {PageDriver} driver
 * @param {string} address
 * @param {any} visitor another page of Playwright's
 */
export async function inspectRequest(driver, address, visitor) {
  const { page, button, heading } = driver;
  await rowOf(driver, address).getByRole('link').first().click();
  await page.getByRole('main').getByRole('link', { name: 'Traffic', exact: true }).click();
  await button('Switch capture on').first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Switch capture on' }).click();
  await heading('No request came yet').waitFor();
  const traffic = page.url();
  const answer = await visitor.goto(`${address}/hello?token=of-the-visitor`);
  expectPromise('a visitor gets the response of the upstream', (await answer.text()).startsWith('seen GET /hello'));
  const row = page.getByRole('row').filter({ hasText: 'GET /hello' });
  await row.waitFor();
  expectPromise('a captured request appears without a reload', await isStillMarked(driver));
  await row.getByRole('link').first().click();
  await page.getByText('seen GET /hello').first().waitFor();
  await button('Replay').click();
  await heading('Answer now').waitFor();
  await page.getByText('the same status and body').waitFor();
  expectPromise(
    'a captured request is shown with its response, and its replay gets the same one',
    await isStillMarked(driver),
  );
  return { traffic, request: page.url() };
}

/**
 * Makes a circuit breaker trip, and watches it on the screen. @param {PageDriver} driver
 * @param {object} with_
 * @param {(query: string, variables?: object) => Promise<any>} with_.ask
 * @param {(command: string) => void} with_.start an agent
 * @param {string} with_.https host and port of the listener
 * @param {{ fail(isFailing: boolean): void }} with_.upstream
 */
export async function watchBreakerTrip(driver, { ask, start, https, upstream }) {
  const { page, at } = driver;
  const edge = await createEdge(ask);
  start(edgeCommand);
  await page.goto(at(`edges/https/${edge.edgeId}/routes/${edge.routeId}`));
  const breaker = page.locator('.section', { hasText: 'The circuit breaker right now' });
  await breaker.getByText('closed', { exact: true }).waitFor();
  // Requests before the agent is connected fail, and enough of them would trip the circuit breaker too early.
  await until(async () => {
    const { tunnelGroupBackends } = await ask('{ tunnelGroupBackends { nodes { tunnels { id } } } }');
    return tunnelGroupBackends.nodes.some((/** @type {{ tunnels: object[] }} */ { tunnels }) => tunnels.length > 0);
  }, 'an agent serves the edge');
  await until(async () => (await visitEdge(https)) === 200, 'the edge answers');
  await markPage(driver);
  upstream.fail(true);
  for (let visit = 0; visit < VISITS_TO_TRIP; visit += 1) await visitEdge(https);
  await breaker.getByText('open', { exact: true }).waitFor();
  upstream.fail(false);
  const status = await visitEdge(https);
  const isShown = status === 503 && (await isStillMarked(driver));
  expectPromise('a circuit breaker that trips is shown as open', isShown, [`status ${status}`]);
  return edge;
}

/**
 * Makes an agent stop answering, and waits until the list says so. @param {PageDriver} driver
 * @param {string} address
 * @param {() => void} silence
 */
export async function watchAgentFallSilent(driver, address, silence) {
  const { page, at } = driver;
  await page.goto(at('endpoints'));
  // It still counts as failing after an earlier step: nobody has visited it since.
  const dot = rowOf(driver, address).locator('.dot.live, .dot.failing');
  await dot.waitFor({ timeout: ROUND_TRIPS_MS });
  await markPage(driver);
  const from = Date.now();
  silence();
  await dot.waitFor({ state: 'detached', timeout: 2 * HEARTBEAT_TOLERANCE_MS });
  const seconds = (Date.now() - from) / 1000;
  await page.locator('.section', { hasText: 'Went offline' }).getByText(address).first().waitFor();
  const isInTime = seconds * 1000 <= HEARTBEAT_TOLERANCE_MS && (await isStillMarked(driver));
  expectPromise(`an agent that stops answering is shown offline after ${seconds.toFixed(1)} s`, isInTime);
}

/** @param {PageDriver} driver @param {string} text */
function rowOf({ page }, text) {
  return page.getByRole('region', { name: 'Live endpoints' }).getByRole('row').filter({ hasText: text });
}
