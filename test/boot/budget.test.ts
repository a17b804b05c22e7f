// What `npm test -- --budget` says of its CPU time.

import { expect, test } from 'vitest';
import { judge } from '../../src/boot/budget.js';

const budget = {
  cpuSecondsOfTests: 500,
  enforcedCpuSecondsOfTests: 1000,
  wallSecondsOfRun: 480,
  cpuSecondsOfLoop: 1,
};
const quiet = (tests: number) => ({ tests, machine: { busy: tests * 1.1, stolen: 0 }, loop: 1 });

test('up to a quarter above the budget is within it', () => {
  expect(judge(quiet(1250), budget)).toEqual({
    line: 'CPU time 1250 s; budget 1000 s, aim 500 s (both times 1.00 for the speed of this machine)',
    isFailed: false,
  });
  expect(judge(quiet(1251), budget).isFailed).toBe(true);
});

test('a slow machine has a larger budget, and a fast one a smaller', () => {
  const slow = judge({ ...quiet(1800), loop: 1.5 }, budget);
  expect(slow).toMatchObject({ line: expect.stringContaining('budget 1500 s, aim 750 s'), isFailed: false });
  expect(judge({ ...quiet(1000), loop: 0.5 }, budget).isFailed).toBe(true);
});

test.each([
  ['other processes', { busy: 4000, stolen: 0 }, 'others had 50 % of its CPU time, and the host took 0 %'],
  ['other machines', { busy: 2000, stolen: 500 }, 'others had 0 % of its CPU time, and the host took 20 %'],
])('beside %s nothing is judged', (_, machine, why) => {
  const { line, isFailed } = judge({ tests: 2000, machine, loop: 1 }, budget);
  expect(isFailed).toBe(false);
  expect(line).toContain(`; not judged, as the machine was not quiet: ${why}`);
});
