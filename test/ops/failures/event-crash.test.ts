import { expect, test } from 'vitest';
import { eventCrash } from '../../support/events/event-crash.ts';

test('every acknowledged change is kept under its idempotency key, and reaches Kinesis in order, though gateways are killed', {
  timeout: 60_000,
}, async () => {
  const { duplicates } = await eventCrash({ events: 60, kills: 1 });
  expect(duplicates).toBeLessThan(60);
});
