// Sketches of durations: how far percentiles are off, and that their bytes say all of it.

import { expect, test } from 'vitest';
import {
  addDuration,
  addedDurations,
  encodeMerged,
  encodeSketch,
  newSketch,
  quantileOf,
} from '../../src/edge/metrics/duration-sketch.ts';

/** Durations as services have them: most short, few long. The same in every run. */
function* durations(count: number) {
  for (let i = 0; i < count; i++) yield 0.05 * Math.exp(12 * ((i * 0.618_033_988_75) % 1) ** 2);
}

const all = [...durations(20_000)];
const sorted = [...all].sort((a, b) => a - b);

function sketchOf(values: readonly number[]) {
  const sketch = newSketch();
  for (const value of values) addDuration(sketch, value);
  return sketch;
}

test('percentiles of what was written in two parts and merged are within 1% of the true ones', () => {
  const parts = [all.slice(0, 5000), all.slice(5000)].map((part) => encodeSketch(sketchOf(part)));
  const merged = addedDurations([encodeMerged(parts) as Uint8Array]);
  expect(merged.count).toBe(20_000);
  for (const share of [0, 0.5, 0.95, 0.99, 1]) {
    const truth = sorted[Math.floor(share * (sorted.length - 1))] as number;
    expect(Math.abs(quantileOf(merged, share) - truth) / truth, `at ${share}`).toBeLessThanOrEqual(0.0101);
  }
});

test('what is very short or very long is counted, and the size stays within bounds', () => {
  const sketch = sketchOf([0, -1, 1e-9, 0.5, 1e20, ...all]);
  const bytes = encodeSketch(sketch);
  expect(addedDurations([bytes]).count).toBe(20_005);
  expect(quantileOf(addedDurations([bytes]), 0)).toBe(0);
  expect(bytes.length).toBeLessThan(3000);
  for (let i = 0; i < 40; i++) addDuration(sketch, 10 ** (i - 12));
  expect(encodeSketch(sketch).length).toBeLessThan(5000);
});

test('bytes of a format that is not known add nothing', () => {
  const [first, ...rest] = encodeSketch(sketchOf([1, 2, 3]));
  expect(addedDurations([Uint8Array.from([(first ?? 0) + 1, ...rest])]).count).toBe(0);
});
