// More traffic than fits in memory, and more than may wait. `npm run soak -- traffic` does it for longer.

import { expect, test } from 'vitest';
import { trafficLoad } from '../support/events/traffic-load.ts';

test('every event that is fed is received, waits, or was dropped and counted, in the order they came', {
  timeout: 60_000,
}, async () => {
  // However slow the machine: of the burst four fifths of 32 MB are stored, which is more than one MB compressed.
  const env = { EVENT_BUFFER_MB: '32', EVENT_BACKLOG_MB: '1' };
  const figures = await trafficLoad({ perSecond: 20_000, seconds: 1, burst: 25_000, answerMs: 200, env });
  expect(figures.fromBuffer).toBeGreaterThan(0);
  expect(figures.fromBacklog).toBeGreaterThan(0);
  expect(figures.waiting).toBeGreaterThan(0);
  expect(figures.received).toBeGreaterThan(0);
});
