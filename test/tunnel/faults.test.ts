// Each fault once; the long rounds are `npm run soak -- faults`.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLOSING_MAX, faults, type Lab, loseHalfWay, openLab, reconnect, suffer } from './faults.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

test.each(faults)(
  '$name: the API stops showing what cannot be reached, and the URL is back by itself',
  async (fault) => {
    await suffer(lab, fault);
  },
);

test('an answer that the agent’s loss cuts short does not look complete', async () => {
  expect(await loseHalfWay(lab)).toMatch(/aborted|ECONNRESET/);
});

test('reconnects leave no descriptor behind', async () => {
  const { before, after } = await reconnect(lab, 6);
  expect(after.descriptors).toBeLessThan(before.descriptors + CLOSING_MAX);
});
