// Events of a given length, and what the tests of the buffer of traffic events check.

import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'vitest';
import { writeEvent } from '../../../src/events/event.ts';
import type { TrafficCounters } from '../../../src/events/traffic/counters.ts';
import { accountId } from './support.ts';

/** An event of a length. Its content is random, so that it has about the same length when it is packed. */
export function event(id: number | string, length = 100): string {
  const filler = randomBytes(Math.max(0, (length * 3) / 4)).toString('base64url');
  return writeEvent({
    ...{ id: `ev_${id}`, type: 'tcp_connection_closed.v0', at: 0, accountId, principal: null },
    object: { filler },
  });
}

export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turn();
}

/** Expects that every accepted event is stored, dropped or waiting. */
export function expectExact({ accepted, appended, dropped, waiting }: TrafficCounters) {
  expect(accepted).toBe(appended + dropped.buffer + dropped.closed + waiting.events);
}
