// `npm run soak -- faults`: 50 rounds of faults between agent and gateway, and 1,000 reconnects.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLOSING_MAX, faults, type Lab, openLab, reconnect, suffer } from '../tunnel/faults.ts';

const ROUNDS = 50;
const RECONNECTS = 1000;
/** What may be left behind by all reconnects together: a leak of one session each would be far more. */
const HEAP_MAX = 8 * 2 ** 20;

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

test(`${ROUNDS} rounds: after each the URL answers again without a hand`, async () => {
  const shown: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const fault = faults[round % faults.length];
    if (fault) shown.push(await suffer(lab, fault));
  }
  process.stdout.write(`shown for ${Math.round(Math.max(...shown))} ms after it could not be reached, at the most\n`);
}, 600_000);

test(`memory and descriptors are flat after ${RECONNECTS} reconnects`, async () => {
  const { before, after } = await reconnect(lab, RECONNECTS);
  process.stdout.write(`before ${JSON.stringify(before)} after ${JSON.stringify(after)}\n`);
  expect(after.descriptors).toBeLessThan(before.descriptors + CLOSING_MAX);
  expect(after.heap).toBeLessThan(before.heap + HEAP_MAX);
}, 600_000);
