// `npm run soak -- acme`: kill -9 of the gateway at every request of every step, before it is acted on and after.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CrashLab, startCrashLab } from '../../acme/scenarios/crash-lab.ts';
import {
  type CrashOutcome,
  type CrashOutcomes,
  type CrashPoint,
  crashAt,
  firstContact,
} from '../../acme/scenarios/crashes.ts';
import { onServer } from '../../support/gateway/gateway.ts';

const requests: Omit<CrashPoint, 'moment'>[] = [
  { state: 'PREFLIGHT', at: 'directory' },
  { state: 'PREFLIGHT', at: 'newNonce' },
  { state: 'PREFLIGHT', at: 'newAccount' },
  { state: 'ORDERING', at: 'newOrder' },
  { state: 'ORDERING', at: 'newOrder', isOrderedAnew: true },
  { state: 'ORDERING', at: 'order' },
  { state: 'ORDERING', at: 'authorization' },
  // The challenges that are pending are asked for, the authority is told, and the order is asked for until it is ready.
  { state: 'VALIDATING', at: 'order' },
  { state: 'VALIDATING', at: 'authorization' },
  { state: 'VALIDATING', at: 'challenge' },
  { state: 'VALIDATING', at: 'order', nth: 2 },
  { state: 'VALIDATING', at: 'order', order: 'ready' },
  { state: 'FINALIZING', at: 'order' },
  { state: 'FINALIZING', at: 'finalize' },
  { state: 'FINALIZING', at: 'order', nth: 2 },
  { state: 'FINALIZING', at: 'certificate' },
  { state: 'ISSUED', at: 'renewalInfo' },
];
const points: CrashPoint[] = [
  { state: 'WAITING_DNS', at: 'dns', moment: 'asked' },
  { state: 'PREFLIGHT', at: 'dns', moment: 'asked' },
  { state: 'VALIDATING', at: 'validation', moment: 'asked' },
  ...requests.flatMap((request) => (['asked', 'answered'] as const).map((moment) => ({ ...request, moment }))),
];
const isFirst = ({ at }: CrashPoint) => firstContact.includes(at);
const TIMEOUT_MS = 300_000;

const titleOf = ({ state, at, moment, nth, order, isOrderedAnew }: CrashPoint) =>
  [`${state}, ${at} ${moment}`, nth && `number ${nth}`, order, isOrderedAnew && 'authority that orders anew']
    .filter(Boolean)
    .join(', ');
const titled = (some: CrashPoint[]) => some.map((point): [string, CrashPoint] => [titleOf(point), point]);

function print(title: string, { first, renewal }: CrashOutcomes) {
  const told = (outcome?: CrashOutcome) =>
    outcome ? `orders ${outcome.orders}, issued ${outcome.issued}, ${outcome.issuedMs} ms` : 'not killed';
  process.stdout.write(`killed in ${title}: first ${told(first)}; renewal ${told(renewal)}\n`);
}

describe.runIf(onServer)('kill -9 of the gateway loses no certificate and orders none twice', () => {
  test.each(titled(points.filter(isFirst)))('in %s', { timeout: TIMEOUT_MS }, async (title, point) => {
    const lab = await startCrashLab();
    try {
      const outcomes = await crashAt(lab, point);
      print(title, outcomes);
      expect(outcomes.first).toBeDefined();
    } finally {
      await lab.stop();
    }
  });

  describe('that the authority knows', () => {
    let lab: CrashLab;
    beforeAll(async () => {
      lab = await startCrashLab();
    });
    afterAll(() => lab?.stop());

    test.each(titled(points.filter((point) => !isFirst(point))))(
      'in %s',
      { timeout: TIMEOUT_MS },
      async (title, point) => {
        const outcomes = await crashAt(lab, point);
        print(title, outcomes);
        expect(outcomes.renewal).toBeDefined();
      },
    );
  });
});
