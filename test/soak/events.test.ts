// `npm run soak -- events`

import { expect, test } from 'vitest';
import { eventCrash } from '../support/events/event-crash.ts';
import { onServer } from '../support/gateway/place.ts';

const EVENTS = 10_000;
const KILLS = 10;
const gateways = onServer ? 'one of two gateways' : 'the gateway';

test(`${EVENTS} events reach Kinesis in order while ${gateways} is killed ${KILLS} times`, {
  timeout: 900_000,
}, async () => {
  const figures = await eventCrash({ events: EVENTS, kills: KILLS });
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect(figures.duplicates).toBeLessThan(EVENTS);
});
