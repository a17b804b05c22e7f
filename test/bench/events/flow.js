// How many events go from what happened to where they arrive, what each costs the gateway, and how late they are.

import { isSmoke } from '../api/processes.js';
import { median } from '../api/report.js';

/** @typedef {import('./gateway.js').Gateway} Gateway */
/** @typedef {import('./children.js').Client} Client @typedef {import('./children.js').Receiver} Receiver */
/** @typedef {import('./requests.js').Job} Job */

/**
 * @typedef {object} Way
 * @property {Gateway} gateway
 * @property {Client} client
 * @property {Receiver} receiver
 * @property {string} type of the events.
 * @property {Omit<Job, 'seconds' | 'rate'>} requests each of which makes one event with its number in it.
 */

/**
 * @typedef {object} Figures of one round.
 * @property {number} requests per second.
 * @property {number} cpu of the gateway: microseconds for a request and all that comes of it.
 * @property {number} events per second that arrived, from the first request to the last arrival.
 * @property {number} lost
 * @property {number} twice
 * @property {number} p50 milliseconds from the answer to the arrival of its event.
 * @property {number} p99
 */

/**
 * Sends requests, and waits for their events where there are to be any.
 * @param {Way} way
 * @param {boolean} hasEvents
 * @param {{ seconds: number, rate?: number }} pace
 * @returns {Promise<Figures>}
 */
export async function measure({ gateway, client, receiver, requests }, hasEvents, pace) {
  const before = gateway.cpu;
  const startedAt = Date.now();
  const outcome = await client.send({ ...requests, ...pace });
  const { arrivedAt, twice } = hasEvents
    ? await receiver.arrivals(outcome)
    : { arrivedAt: new Float64Array(), twice: 0 };
  const count = outcome.answeredAt.length;
  const cpu = (gateway.cpu - before) / count;
  const come = arrivedAt.filter((at) => !Number.isNaN(at));
  const last = come.reduce((latest, at) => Math.max(latest, at), 0);
  const lags = arrivedAt.map((at, i) => at - (outcome.answeredAt[i] ?? 0)).filter((lag) => !Number.isNaN(lag));
  lags.sort();
  const at = (/** @type {number} */ share) => lags[Math.floor(lags.length * share)] ?? Number.NaN;
  return {
    requests: count / outcome.seconds,
    cpu,
    events: (come.length / (last - startedAt)) * 1000,
    lost: arrivedAt.length - come.length,
    twice,
    p50: at(0.5),
    p99: at(0.99),
  };
}

/**
 * Measures with and without a subscription by turns, as fast as requests are answered; then once at half that rate.
 * @param {Way} way
 * @param {{ rounds: number, seconds: number }} length
 * @returns {Promise<{ text: string, astray: number }>} the figures; and how many events did not arrive, or came twice.
 */
export async function flow(way, { rounds, seconds }) {
  const { gateway, receiver, type } = way;
  const destination = await gateway.createDestination(receiver.target);
  const turn = async (/** @type {boolean} */ hasEvents, /** @type {{ seconds: number, rate?: number }} */ pace) => {
    const end = hasEvents ? await gateway.subscribe(type, destination) : undefined;
    const figures = await measure(way, hasEvents, pace);
    await end?.();
    return figures;
  };
  /** @type {Figures[]} */
  const quiet = [];
  /** @type {Figures[]} */
  const told = [];
  if (!isSmoke) for (const hasEvents of [false, true]) await turn(hasEvents, { seconds: Math.min(seconds, 2) });
  for (let round = 0; round < rounds; round++) {
    // Every second round goes backwards, so that none always follows the other.
    const order = round % 2 ? [true, false] : [false, true];
    for (const hasEvents of order) (hasEvents ? told : quiet).push(await turn(hasEvents, { seconds }));
  }
  const rate = Math.round(median(told.map(({ requests }) => requests)) / 2);
  const paced = await turn(true, { seconds, rate });
  const { delivered_events: delivered, dropped_events: dropped } = await gateway.call(
    'GET',
    `/event_destinations/${destination}/delivery`,
  );
  const astray = [...told, paced].reduce((sum, { lost, twice }) => sum + lost + twice, 0);
  return { text: text({ quiet, told, paced, rate, delivered, dropped }), astray };
}

/**
 * @param {{ quiet: Figures[], told: Figures[], paced: Figures, rate: number, delivered: number, dropped: number }} results
 */
function text({ quiet, told, paced, rate, delivered, dropped }) {
  const of = (/** @type {Figures[]} */ rounds, /** @type {keyof Figures} */ figure) => rounds.map((one) => one[figure]);
  const show = (/** @type {number[]} */ values, digits = 0) =>
    `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;
  const sum = (/** @type {keyof Figures} */ figure) => of([...told, paced], figure).reduce((a, b) => a + b, 0);
  const added = told.map(({ cpu }, round) => cpu - (quiet[round]?.cpu ?? Number.NaN));
  const rows = [
    ['requests per second, without', show(of(quiet, 'requests'))],
    ['requests per second, with', show(of(told, 'requests'))],
    ['events per second, end to end', show(of(told, 'events'))],
    ['CPU µs per request, without', show(of(quiet, 'cpu'), 1)],
    ['CPU µs per request, with', show(of(told, 'cpu'), 1)],
    ['CPU µs per event', show(added, 1)],
    ['lag ms at full speed, p50', show(of(told, 'p50'))],
    ['lag ms at full speed, p99', show(of(told, 'p99'))],
    [`lag ms at ${rate}/s, p50`, paced.p50.toFixed(0)],
    [`lag ms at ${rate}/s, p99`, paced.p99.toFixed(0)],
    ['did not arrive, came twice', `${sum('lost')}, ${sum('twice')}`],
    ['the gateway says: delivered, dropped', `${delivered}, ${dropped}`],
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  return rows.map(([name = '', value]) => `  ${name.padEnd(width)}   ${value}`).join('\n');
}
