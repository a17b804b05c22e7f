// `npm run soak -- crash`

import { expect, test } from 'vitest';
import { crash } from '../support/faults/crash.ts';

const ROUNDS = 20;

test(`nothing acknowledged is lost when the gateway is killed ${ROUNDS} times during writes`, {
  timeout: 600_000,
}, async () => {
  expect(await crash(ROUNDS)).toBeGreaterThan(ROUNDS * 20);
});
