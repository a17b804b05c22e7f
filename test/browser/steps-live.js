// What comes, happens and goes while one looks: an endpoint, requests, a circuit breaker, an agent that falls silent.

import { edgeCommand, makeEdge, visitEdge } from './edge.js';
import { isMarked, mark, until } from './hand.js';
import { said } from './said.js';

/** @typedef {import('./hand.js').Hand} Hand */

/** Heartbeats go every 10 s and wait 15 s at most; the rest is the machine's own slowness. */
const HEARTBEAT_TOLERANCE_MS = 30_000;
const ROUND_TRIPS_MS = 40_000;
const VISITS_TO_TRIP = 8;

/**
 * An agent turns up. @param {Hand} hand
 * @param {() => void} start
 * @returns {Promise<string>} the address that it serves
 */
export async function seeAgentCome(hand, start) {
  await hand.go('Endpoints');
  await hand.heading('Nothing is online').waitFor();
  await mark(hand);
  start();
  const row = rowOf(hand, 'tunnel.localhost');
  await row.waitFor();
  said('the agent that this line starts turns up without a reload', await isMarked(hand));
  await row.locator('.dot.live').waitFor({ timeout: ROUND_TRIPS_MS });
  said('it is green once a heartbeat came back', true);
  return row.getByRole('link').first().textContent();
}

/**
 * Looks at a request of a visitor, and sends it once more. @param {Hand} hand
 * @param {string} address
 * @param {any} visitor another page of Playwright's
 */
export async function seeRequest(hand, address, visitor) {
  const { page, button, heading } = hand;
  await rowOf(hand, address).getByRole('link').first().click();
  await page.getByRole('main').getByRole('link', { name: 'Traffic', exact: true }).click();
  await button('Switch capture on').first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Switch capture on' }).click();
  await heading('No request came yet').waitFor();
  const traffic = page.url();
  const answer = await visitor.goto(`${address}/hello?token=of-the-visitor`);
  said('a visitor gets the answer of the upstream', (await answer.text()).startsWith('seen GET /hello'));
  const row = page.getByRole('row').filter({ hasText: 'GET /hello' });
  await row.waitFor();
  said('the request is seen at once', await isMarked(hand));
  await row.getByRole('link').first().click();
  await page.getByText('seen GET /hello').first().waitFor();
  await button('Replay').click();
  await heading('Answer now').waitFor();
  await page.getByText('the same status and body').waitFor();
  said('it is shown with its answer, and replayed with the same one', await isMarked(hand));
  return { traffic, request: page.url() };
}

/**
 * Has a circuit breaker trip. @param {Hand} hand
 * @param {object} with_
 * @param {(query: string, variables?: object) => Promise<any>} with_.ask
 * @param {(command: string) => void} with_.start an agent
 * @param {string} with_.https host and port of the listener
 * @param {{ fail(isFailing: boolean): void }} with_.upstream
 */
export async function seeBreakerTrip(hand, { ask, start, https, upstream }) {
  const { page, at } = hand;
  const edge = await makeEdge(ask);
  start(edgeCommand);
  await page.goto(at(`edges/https/${edge.edgeId}/routes/${edge.routeId}`));
  const breaker = page.locator('.section', { hasText: 'The circuit breaker right now' });
  await breaker.getByText('closed', { exact: true }).waitFor();
  await until(async () => (await visitEdge(https)) === 200, 'the edge answers');
  await mark(hand);
  upstream.fail(true);
  for (let visit = 0; visit < VISITS_TO_TRIP; visit += 1) await visitEdge(https);
  await breaker.getByText('open', { exact: true }).waitFor();
  upstream.fail(false);
  const status = await visitEdge(https);
  const isSeen = status === 503 && (await isMarked(hand));
  said('a circuit breaker that trips is seen open', isSeen, [`status ${status}`]);
  return edge;
}

/**
 * An agent says nothing any more. @param {Hand} hand
 * @param {string} address
 * @param {() => void} silence
 */
export async function seeAgentGo(hand, address, silence) {
  const { page, at } = hand;
  await page.goto(at('endpoints'));
  const dot = rowOf(hand, address).locator('.dot.live');
  await dot.waitFor({ timeout: ROUND_TRIPS_MS });
  await mark(hand);
  const from = Date.now();
  silence();
  await dot.waitFor({ state: 'detached', timeout: 2 * HEARTBEAT_TOLERANCE_MS });
  const seconds = (Date.now() - from) / 1000;
  await page.locator('.section', { hasText: 'Went offline' }).getByText(address).first().waitFor();
  const isInTime = seconds * 1000 <= HEARTBEAT_TOLERANCE_MS && (await isMarked(hand));
  said(`an agent that falls silent is seen offline: after ${seconds.toFixed(1)} s`, isInTime);
}

/** @param {Hand} hand @param {string} text */
function rowOf({ page }, text) {
  return page.getByRole('region', { name: 'Live endpoints' }).getByRole('row').filter({ hasText: text });
}
