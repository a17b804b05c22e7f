// Shortened; `npm run soak -- crash` has the full count.

import { expect, test } from 'vitest';
import { crash } from '../../support/faults/crash.ts';
import { onServer } from '../../support/gateway/gateway.ts';

/** What a server has acknowledged is the server's to keep; the embedded database is ours. */
const KILLS = onServer ? 1 : 2;

test('nothing acknowledged is lost, and no idempotency key forgotten, when the gateway is killed during writes', {
  timeout: 60_000,
}, async () => {
  expect(await crash(KILLS)).toBeGreaterThan(KILLS * 20);
});
