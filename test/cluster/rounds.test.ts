// Faults among three gateways, beside agents and visitors. `npm run soak -- nodes` has all faults, twenty times each.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onServer } from '../support/gateway/place.ts';
import { type Rounds, startRounds } from '../support/nodes/rounds.ts';

const TEST_MS = 120_000;
const faults = ['kill -9 of a node', 'links that are cut'];

describe.runIf(onServer)(
  'no visitor of three gateways gets the answer of another tunnel, and all are served again',
  () => {
    let rounds: Rounds;
    beforeAll(async () => {
      rounds = await startRounds({ visitors: { count: 3, pauseMs: 20 }, mends: true });
    }, TEST_MS);
    afterAll(() => rounds?.close(), TEST_MS);

    test.each(faults)('%s', { timeout: TEST_MS }, async (name) => {
      const { misrouted, requests, fault, sessionsEnded } = await rounds.run(name);
      expect(misrouted).toEqual([]);
      expect(requests).toBeGreaterThan(0);
      if (!fault.endsSessions) expect(sessionsEnded).toBe(0);
    });
  },
);
