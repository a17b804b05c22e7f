// Ten thousand endpoints, of which fifty change each second: how long a frame takes, and whether memory grows.

import { handOn } from './hand.js';
import { said } from './said.js';
import { signInByLink } from './sign-in.js';
import { watch } from './watch.js';

const MINUTES = 10;
const PHASE_MS = 15_000;
/** At 60 frames a second each has 16.7 ms; less than that is work, the rest is waiting for the next. */
const FRAME_MS = 16;
const WHEEL_PX = 2500;
const WHEEL_MS = 60;
const SAMPLE_MS = 20_000;
const COUNTING_MS = 10_000;
/** Of the fifty: a machine that has much else to do may be late. */
const CHANGES_MIN = 40;
/** What a garbage collection leaves differs by so much from one to the next. */
const GROWTH_MAX_MB = 4;

/**
 * @param {any} browser Playwright's
 * @param {import('./gateway.js').RunningGateway} gateway
 */
export async function watchMany(browser, gateway) {
  const minutes = Number(process.argv[3] ?? MINUTES);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { broken } = await watch(context);
  const page = await context.newPage();
  await signInByLink(handOn(page, gateway.api), gateway.signInLink);
  await page
    .getByText('10,000 in all')
    .or(page.getByText(/^(9,9|10,0)\d\d in all/))
    .waitFor();
  const tools = await context.newCDPSession(page);
  await tools.send('Performance.enable');

  const told = await changesTold(gateway);
  said(`${told} endpoints change each second`, told >= CHANGES_MIN);
  const phases = { resting: () => page.waitForTimeout(PHASE_MS), scrolling: () => scroll(page) };
  for (const [name, act] of Object.entries(phases)) {
    const { median, busy, slowest } = await frames(page, tools, act);
    const text = `a frame takes ${median} ms of work (median), ${busy} ms on average, ${slowest} ms at most`;
    said(`${name}, ${text}`, median <= FRAME_MS && busy <= FRAME_MS);
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
  said(`in ${minutes} minutes memory grows by ${growth.toFixed(1)} MB`, growth <= GROWTH_MAX_MB);
  said('nothing broke', broken.length === 0, broken);
}

/**
 * What frames cost while something goes on: the work of each from its callbacks to its painting.
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
    // The first task after a frame was painted.
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

/** @param {import('./gateway.js').RunningGateway} gateway @returns {Promise<number>} a second */
async function changesTold({ api, apiKey }) {
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
