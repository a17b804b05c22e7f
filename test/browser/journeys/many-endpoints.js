// Ten thousand endpoints, of which fifty change each second: measures how long a frame takes and whether memory grows.

import { drivePage } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';
import { signInByLink } from './sign-in-steps.js';

const MINUTES = 10;
const PHASE_MS = 15_000;
/** A frame at 60 frames a second has 16.7 ms for its work. */
const FRAME_MS = 16;
const WHEEL_PX = 2500;
const WHEEL_MS = 60;
const SAMPLE_MS = 20_000;
const COUNTING_MS = 10_000;
/** Less than fifty, because a busy machine may be late. */
const CHANGES_MIN = 40;
/** The heap after a garbage collection varies by this much. */
const GROWTH_MAX_MB = 4;

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function watchManyEndpoints(browser, gateway) {
  const minutes = Number(process.argv[3] ?? MINUTES);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { broken } = await recordPages(context);
  const page = await context.newPage();
  await signInByLink(drivePage(page, gateway.api), gateway.signInLink);
  await page
    .getByText('10,000 in all')
    .or(page.getByText(/^(9,9|10,0)\d\d in all/))
    .waitFor();
  const tools = await context.newCDPSession(page);
  await tools.send('Performance.enable');

  const changes = await changesPerSecond(gateway);
  expectPromise(`${changes} endpoints change each second`, changes >= CHANGES_MIN);
  const phases = { resting: () => page.waitForTimeout(PHASE_MS), scrolling: () => scroll(page) };
  for (const [name, act] of Object.entries(phases)) {
    const { median, busy, slowest } = await frames(page, tools, act);
    const text = `a frame takes ${median} ms of work (median), ${busy} ms on average, ${slowest} ms at most`;
    expectPromise(`${name}, ${text}`, median <= FRAME_MS && busy <= FRAME_MS);
  }

  const samples = [];
  for (const end = Date.now() + minutes * 60_000; Date.now() < end; ) {
    await page.waitForTimeout(SAMPLE_MS);
    await tools.send('HeapProfiler.collectGarbage');
    const { JSHeapUsedSize, Nodes, JSEventListeners } = await metrics(tools);
    samples.push({ heap: JSHeapUsedSize / 1e6, nodes: Nodes, listeners: JSEventListeners });
    process.stdout.write(
      `       ${(JSHeapUsedSize / 1e6).toFixed(1)} MB, ${Nodes} nodes, ${JSEventListeners} listeners\n`,
    );
  }
  const growth = grown(samples.map(({ heap }) => heap));
  expectPromise(`in ${minutes} minutes memory grows by ${growth.toFixed(1)} MB`, growth <= GROWTH_MAX_MB);
  expectPromise('no page throws', broken.length === 0, broken);
}

/**
 * Measures the work of each frame, from its callbacks to its painting, while something happens.
 * @param {any} page
 * @param {any} tools
 * @param {() => Promise<void>} act
 */
async function frames(page, tools, act) {
  const before = await metrics(tools);
  await page.evaluate(() => {
    const measured = { works: /** @type {number[]} */ ([]), isOver: false };
    Object.assign(globalThis, { measured });
    const { port1, port2 } = new MessageChannel();
    let began = 0;
    // This is the first task after a frame is painted.
    port1.onmessage = () => measured.works.push(performance.now() - began);
    requestAnimationFrame(function frame() {
      began = performance.now();
      port2.postMessage(null);
      if (!measured.isOver) requestAnimationFrame(frame);
    });
  });
  await act();
  /** @type {number[]} */
  const works = await page.evaluate(() => {
    const { measured } = /** @type {any} */ (globalThis);
    measured.isOver = true;
    return measured.works;
  });
  const after = await metrics(tools);
  const sorted = works.toSorted((one, other) => one - other);
  const rounded = (/** @type {number} */ number) => Math.round(number * 10) / 10;
  return {
    median: rounded(sorted[sorted.length >> 1] ?? Number.NaN),
    slowest: rounded(sorted.at(-1) ?? Number.NaN),
    busy: rounded(((after.TaskDuration - before.TaskDuration) * 1000) / sorted.length),
  };
}

/** @param {import('../support/gateway.js').RunningGateway} gateway @returns {Promise<number>} */
async function changesPerSecond({ api, apiKey }) {
  const response = await fetch(`${api}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', Authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ query: 'subscription { changes(kinds: ["endpoint"]) { changes { id } } }' }),
    signal: AbortSignal.timeout(COUNTING_MS),
  });
  let count = 0;
  try {
    for await (const bytes of response.body ?? []) count += Buffer.from(bytes).toString().split('"id"').length - 1;
  } catch (error) {
    if (/** @type {Error} */ (error).name !== 'TimeoutError') throw error;
  }
  return Math.round((count * 1000) / COUNTING_MS);
}

/** @param {any} page */
async function scroll(page) {
  await page.mouse.move(600, 400);
  for (const end = Date.now() + PHASE_MS; Date.now() < end; ) {
    await page.mouse.wheel(0, WHEEL_PX);
    await page.waitForTimeout(WHEEL_MS);
  }
}

/** @param {any} tools @returns {Promise<any>} numbers by their names */
async function metrics(tools) {
  const { metrics } = await tools.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map((/** @type {any} */ { name, value }) => [name, value]));
}

/** The median of the last third less that of the first. @param {number[]} samples */
function grown(samples) {
  const third = Math.ceil(samples.length / 3);
  const median = (/** @type {number[]} */ some) => some.toSorted((a, b) => a - b)[some.length >> 1] ?? 0;
  return median(samples.slice(-third)) - median(samples.slice(0, third));
}
