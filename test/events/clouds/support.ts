// What the API of a gateway has to say of a destination, and what has to have arrived there.

import { expect } from 'vitest';
import type { Feed } from '../../support/events/clouds-lab.ts';

interface Failure {
  state: string;
  code: string;
  /** Events that wait. */
  waiting: number;
  /** Events that were delivered before; 0 when left out. */
  delivered?: number;
}

/** Delivery has failed so; a trial fails the same way, and says the same. */
export async function expectFailure(feed: Feed, { state, code, waiting, delivered = 0 }: Failure): Promise<void> {
  await feed.until(({ attempts, waiting_events }) => attempts > 0 && waiting_events === waiting);
  const { attempts, last_error: error, ...delivery } = await feed.look();
  expect(delivery, feed.kind).toMatchObject({
    ...{ state, waiting_events: waiting, delivered_events: delivered, dropped_events: 0, dead_letters: 0 },
    next_attempt_at: expect.stringMatching(/Z$/),
    last_delivered_at: delivered > 0 ? expect.stringMatching(/Z$/) : null,
  });
  expect(attempts).toBeGreaterThan(0);
  expect(error).toEqual({ code, message: expect.stringMatching(/^[^\n]{3,300}$/), at: expect.stringMatching(/Z$/) });
  const trial = await feed.trial();
  expect(trial, feed.kind).toMatchObject({ ok: false, error_code: code, error_message: error.message });
}

/** Everything was delivered, and delivery is well. */
export async function expectWell(
  feed: Feed,
  { delivered, lastError }: { delivered: number; lastError?: string },
): Promise<void> {
  await feed.until(
    ({ state, waiting_events, delivered_events }) =>
      state === 'ok' && waiting_events === 0 && delivered_events === delivered,
  );
  expect(await feed.look(), feed.kind).toMatchObject({
    ...{ state: 'ok', attempts: 0, waiting_events: 0, waiting_bytes: 0, delivered_events: delivered },
    ...{ next_attempt_at: null, oldest_waiting_at: null, last_delivered_at: expect.stringMatching(/Z$/) },
    ...(lastError && { last_error: { code: lastError } }),
  });
}

/** Of each of these there was one event, in this order; what came twice is the same twice. */
export function expectInOrder(feed: Feed, made: readonly string[]): void {
  const arrived = feed.arrived();
  const ids = arrived.map(({ event_id: id }) => id);
  const first = arrived.filter((event, place) => ids.indexOf(event.event_id) === place);
  expect(
    first.map(({ object }) => object.id),
    feed.kind,
  ).toEqual(made);
  for (const event of arrived) expect(event).toEqual(first.find(({ event_id: id }) => id === event.event_id));
}
