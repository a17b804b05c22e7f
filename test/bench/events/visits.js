// What events cost visitors: paced visits at a share of the highest rate, with and without a subscription to all of them.

import { isSmoke } from '../api/processes.js';
import { median } from '../api/report.js';

/** Microseconds of the gateway's CPU that an event may add to a request, and how many times longer the slowest may take. */
const CPU_MAX = 30;
const P99_MAX = 1.5;
const MAX_ROUNDS = isSmoke ? 1 : 3;

/** @typedef {import('./flow.js').Way} Way */

/**
 * @param {Way} way
 * @param {{ rounds: number, seconds: number, share: number }} length
 * @returns {Promise<{ text: string, astray: number }>} the figures; and how many events did not arrive, or came twice.
 */
export async function visits({ gateway, client, receiver, type, requests }, { rounds, seconds, share }) {
  const destination = await gateway.createDestination(receiver.target);
  /** @type {number[]} */
  const rates = [];
  await client.send({ ...requests, seconds: isSmoke ? seconds : 2 });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { answeredAt, seconds: took } = await client.send({ ...requests, seconds });
    rates.push(answeredAt.length / took);
  }
  const rate = Math.round(median(rates) * share);

  /** @param {boolean} hasEvents */
  const turn = async (hasEvents) => {
    const end = hasEvents ? await gateway.subscribe(type, destination) : undefined;
    const before = gateway.cpu;
    const outcome = await client.send({ ...requests, seconds, rate });
    // An event is paid for when it has arrived.
    const arrivals = hasEvents ? await receiver.arrivals(outcome) : undefined;
    const cpu = (gateway.cpu - before) / outcome.answeredAt.length;
    await end?.();
    const lost = arrivals?.arrivedAt.filter((at) => Number.isNaN(at)).length ?? 0;
    return { cpu, p50: outcome.p50, p99: outcome.p99, lost, twice: arrivals?.twice ?? 0 };
  };
  /** @typedef {Awaited<ReturnType<typeof turn>>} Round */
  /** @type {Round[]} */
  const quiet = [];
  /** @type {Round[]} */
  const told = [];
  if (!isSmoke) for (const hasEvents of [false, true]) await turn(hasEvents);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 ? [true, false] : [false, true];
    for (const hasEvents of order) (hasEvents ? told : quiet).push(await turn(hasEvents));
  }

  const middle = (/** @type {Round[]} */ all, /** @type {keyof Round} */ figure) =>
    median(all.map((one) => one[figure]));
  const row = (/** @type {string} */ name, /** @type {Round[]} */ all) =>
    `  ${name}   CPU ${middle(all, 'cpu').toFixed(1)} µs   p50 ${middle(all, 'p50').toFixed(2)} ms   p99 ${middle(all, 'p99').toFixed(2)} ms`;
  // What slows a whole round slows both: each is held against the same round of the other.
  const added = median(told.map(({ cpu }, i) => cpu - (quiet[i]?.cpu ?? Number.NaN)));
  const times = median(told.map(({ p99 }, i) => p99 / (quiet[i]?.p99 ?? Number.NaN)));
  const verdict = (/** @type {boolean} */ met) => (met ? 'met' : 'MISSED');
  const text = [
    `  at most ${median(rates).toFixed(0)} visits per second; measured at ${rate}, medians of ${rounds} rounds`,
    row('without', quiet),
    row('with   ', told),
    `  events add ${added.toFixed(1)} µs to a request (<= ${CPU_MAX}: ${verdict(added <= CPU_MAX)})`,
    `  p99 is ${times.toFixed(2)} times as long (<= ${P99_MAX}: ${verdict(times <= P99_MAX)})`,
    `  ${told.reduce((sum, { lost }) => sum + lost, 0)} events did not arrive`,
  ].join('\n');
  return { text, astray: told.reduce((sum, { lost, twice }) => sum + lost + twice, 0) };
}
