// What charts are made of: the range in the URL, the figures of the API as series, and the paths of sparklines.

import { expect, test } from 'vitest';
import { boundsOf, readRange, writeRange } from '../../src/dashboard/data/routing/time-range.ts';
import type { TrafficHistoryFactsFragment } from '../../src/dashboard/generated/operations.ts';
import { chartData } from '../../src/dashboard/screens/traffic-history/chart-data.ts';
import { stacked } from '../../src/dashboard/ui/charts/series.ts';
import { linePath } from '../../src/dashboard/ui/charts/sparkline-path.ts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const MINUTE_MS = 60_000;
const nothing = { informational: 0, success: 0, redirection: 0, clientError: 0, serverError: 0, none: 0 };

/** A quarter of an hour before noon, by minutes, with one response 200 in each and one 500 in the last. */
const history: TrafficHistoryFactsFragment = {
  step: 'MINUTE',
  from: new Date(NOON - 15 * MINUTE_MS).toISOString(),
  to: new Date(NOON).toISOString(),
  points: Array.from({ length: 15 }, (_, minute) => ({
    at: new Date(NOON - (15 - minute) * MINUTE_MS).toISOString(),
    responses: { ...nothing, success: 1, serverError: minute === 14 ? 1 : 0 },
    duration: minute === 14 ? { p50: 1, p95: 2, p99: 3 } : null,
    firstByte: null,
    bytesIn: 10,
    bytesOut: 20,
    openConnections: 0,
    connections: 0,
  })),
};

test('a range of time is the same after it was written to the URL', () => {
  for (const range of [{ recent: '7d' } as const, { from: NOON - MINUTE_MS, to: NOON }])
    expect(readRange(writeRange(range))).toEqual(range);
});

test('a URL without a range that can be read shows the last hour', () => {
  for (const query of [
    {},
    { range: '1y' },
    { range: 'toString' },
    { from: 'x', to: 'y' },
    { from: '2026-03-02', to: '2026-03-01' },
  ]) {
    expect(readRange(query)).toEqual({ recent: '1h' });
  }
  expect(boundsOf({ recent: '1h' }, NOON)).toEqual({ from: NOON - 60 * MINUTE_MS, to: NOON });
});

test('a chart of statuses has errors at the bottom, and leaves out 1xx where there are none', () => {
  const { series, times, stepSeconds } = chartData('responses', history, { since: undefined, now: NOON + MINUTE_MS });
  expect(series.map(({ name }) => name)).toEqual(['5xx', 'no response', '4xx', '3xx', '2xx']);
  expect([times.length, times[0], stepSeconds]).toEqual([15, NOON / 1000 - 900, 60]);
  expect(series.map(({ values }) => values.at(-1))).toEqual([1, 0, 0, 0, 1]);
  expect(stacked(series).map((top) => top.at(-1))).toEqual([1, 1, 1, 1, 2]);
});

test('a chart has a gap where nothing is known: before the object was there, and without a request to measure', () => {
  const since = new Date(NOON - 5 * MINUTE_MS).toISOString();
  const [requests] = chartData('responses', history, { since, now: NOON + MINUTE_MS }).series;
  expect(requests?.values.map((value) => value === null)).toEqual([...Array(9).fill(true), ...Array(6).fill(false)]);
  const [p50] = chartData('duration', history, { since: undefined, now: NOON + MINUTE_MS }).series;
  expect(p50?.values).toEqual([...Array(14).fill(null), 1]);
});

test('the last ten seconds are a gap until they are counted', () => {
  const seconds = { ...history, step: 'TEN_SECONDS' as const, from: new Date(NOON - 150_000).toISOString() };
  const [errors] = chartData('responses', seconds, { since: undefined, now: NOON }).series;
  expect(errors?.values.slice(-4)).toEqual([0, 0, null, null]);
});

test('a sparkline is interrupted where a value is missing', () => {
  expect(linePath([0, 4, null, 2], 4).match(/[ML]/g)).toEqual(['M', 'L', 'M']);
});
