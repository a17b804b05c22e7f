// Ten thousand endpoints, of which fifty change each second: measures how long a frame takes and whether memory grows.

import { drivePage } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';
import { signInByLink } from './sign-in-steps.js';

const MINUTES = 10;
const PHASE_MS = 15_000;
/** A frame at 60 frames a second has 16.7 ms for its work. */
const FRAME_MS = 16;
const FRAME_P99_MS = 33;
/** A longer task delays what the user does. */
const TASK_MS = 50;
/** From the request for the page until its figures and charts are drawn. */
const FIRST_PAGE_MS = 1000;
const FIRST_PAGE_SCRIPT_BYTES = 150_000;
const FIRST_PAGES = 5;
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
  const driver = drivePage(page, gateway.api);
  await signInByLink(driver, gateway.signInLink);
  await watchFirstPage(browser, context, gateway);
  await driver.go('Endpoints');
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
    const { median, busy, p95, p99, tasks } = await frames(page, tools, act);
    const text = `a frame takes ${median} ms of work (median), ${busy} ms on average, p95 ${p95} ms, p99 ${p99} ms`;
    expectPromise(`${name}, ${text}`, Math.max(median, busy, p95) <= FRAME_MS && p99 <= FRAME_P99_MS);
    expectPromise(`${name}, no task takes more than ${TASK_MS} ms`, tasks.length === 0, tasks);
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
 * Opens the overview in new pages with empty caches: how long it takes until its figures and charts are drawn, and how many
 * bytes of script come.
 * @param {any} browser
 * @param {any} context where somebody is signed in
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
async function watchFirstPage(browser, context, { api }) {
  const state = await context.storageState();
  const times = [];
  let bytes = 0;
  for (let page = 0; page < FIRST_PAGES; page += 1) {
    const fresh = await browser.newContext({ storageState: state, viewport: { width: 1280, height: 800 } });
    const opened = await openOverview(await fresh.newPage(), api);
    times.push(opened.milliseconds);
    bytes = opened.scriptBytes;
    await fresh.close();
  }
  const median = times.toSorted((one, other) => one - other)[FIRST_PAGES >> 1] ?? Number.NaN;
  const measured = times.map((time) => Math.round(time)).join(', ');
  expectPromise(
    `the overview is drawn ${Math.round(median)} ms after it was asked for (${measured})`,
    median < FIRST_PAGE_MS,
  );
  expectPromise(`it loads ${(bytes / 1000).toFixed(1)} kB of script`, bytes > 0 && bytes <= FIRST_PAGE_SCRIPT_BYTES);
}

/** @param {any} page @param {string} api @returns {Promise<{ milliseconds: number, scriptBytes: number }>} */
async function openOverview(page, api) {
  await page.goto(`${api}/dashboard/overview`, { waitUntil: 'commit' });
  return page.evaluate(async () => {
    const isDrawn = () => document.querySelector('.problems') && document.querySelectorAll('.chart canvas').length >= 2;
    while (!isDrawn()) await new Promise((resolve) => requestAnimationFrame(resolve));
    const milliseconds = performance.now();
    const scripts = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'));
    const sizes = scripts.map((entry) => /** @type {PerformanceResourceTiming} */ (entry).transferSize);
    return { milliseconds, scriptBytes: sizes.reduce((all, size) => all + size, 0) };
  });
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
    const measured = { works: /** @type {number[]} */ ([]), tasks: /** @type {number[]} */ ([]), isOver: false };
    Object.assign(globalThis, { measured });
    new PerformanceObserver((list) => {
      measured.tasks.push(...list.getEntries().map(({ duration }) => duration));
    }).observe({ type: 'longtask' });
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
  /** @type {{ works: number[], tasks: number[] }} */
  const { works, tasks } = await page.evaluate(() => {
    const { measured } = /** @type {any} */ (globalThis);
    measured.isOver = true;
    return measured;
  });
  const after = await metrics(tools);
  const sorted = works.toSorted((one, other) => one - other);
  const rounded = (/** @type {number} */ number) => Math.round(number * 10) / 10;
  const percentile = (/** @type {number} */ share) => rounded(sorted[Math.floor(sorted.length * share)] ?? Number.NaN);
  return {
    median: percentile(0.5),
    p95: percentile(0.95),
    p99: percentile(0.99),
    tasks: tasks.map((duration) => `${rounded(duration)} ms`),
    busy: rounded(((after.TaskDuration - before.TaskDuration) * 1000) / sorted.length),
  };
}

/** @param {import('../support/gateway.js').RunningGateway} gateway @returns {Promise<number>} */
async function changesPerSecond({ api, apiKey }) {
  const response = await fetch(`${api}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', Authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ query: 'subscription { changes(kinds: ["endpoint"]) { changes { objectId } } }' }),
    signal: AbortSignal.timeout(COUNTING_MS),
  });
  let count = 0;
  try {
    for await (const bytes of response.body ?? [])
      count += Buffer.from(bytes).toString().split('"objectId"').length - 1;
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
