// Shortened; `npm run soak -- crash` has the full count. What a server has acknowledged is the server's to keep: with one, it is a matter
// of `npm run soak -- long`. The embedded database is ours.

import { expect, test } from 'vitest';
import { crash } from '../../support/faults/crash.ts';
import { shortened } from '../../support/shortened.ts';

test.each(shortened([1, 2]))(
  'nothing acknowledged is lost, and no idempotency key forgotten, when the gateway is killed during writes; kills: %i',
  { timeout: 120_000 },
  async (kills) => {
    expect(await crash(kills)).toBeGreaterThan(kills * 20);
  },
);
