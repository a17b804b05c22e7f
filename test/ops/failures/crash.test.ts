// `npm run soak -- crash` has the full count, and `npm test` a kill in test/ops/failures/event-crash.test.ts.

import { expect, test } from 'vitest';
import { crash } from '../../support/faults/crash.ts';

const KILLS = 2;

test('nothing acknowledged is lost, and no idempotency key forgotten, when the gateway is killed during writes', {
  timeout: 120_000,
}, async () => {
  expect(await crash(KILLS)).toBeGreaterThan(KILLS * 20);
});
