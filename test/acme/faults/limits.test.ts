// The limits of Let's Encrypt, which the gateway keeps itself: nothing is ordered above them, and the status says until when.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import { type CertificateLab, startCertificateLab } from '../lab.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let lab: CertificateLab;
beforeAll(async () => {
  lab = await startCertificateLab();
});
afterAll(() => lab?.stop());

interface Earlier {
  count: number;
  /** How long ago the first of them was. */
  ageMs: number;
  names: string[];
  zone: string;
  outcome: 'issued' | 'failed' | 'abandoned' | null;
}

/** Orders of domains that are gone. */
async function ordered({ count, ageMs, names, zone, outcome }: Earlier): Promise<void> {
  const { accountId, app } = lab.gateway;
  await app.prisma.certificateOrder.createMany({
    data: Array.from({ length: count }, (_, index) => ({
      ...{
        id: newId('corder'),
        managedCertificateId: newId('mcert'),
        accountId,
        directoryUrl: lab.authority.directoryUrl,
      },
      ...{ names, registeredDomain: zone, isRenewal: false, outcome },
      orderedAt: new Date(lab.now() - ageMs + index),
      endedAt: outcome === null ? null : new Date(lab.now() - ageMs + index),
    })),
  });
}

describe('after', () => {
  test.each<Omit<Earlier, 'ageMs'> & { what: string; windowMs: number }>([
    {
      ...{ count: 50, names: ['other.limit-a.com'], zone: 'limit-a.com', outcome: 'issued', windowMs: 7 * DAY_MS },
      what: '50 certificates of the registered domain within 7 days',
    },
    {
      ...{ count: 5, names: ['app.limit-b.com'], zone: 'limit-b.com', outcome: 'issued', windowMs: 7 * DAY_MS },
      what: '5 certificates of the same names within 7 days',
    },
    {
      ...{ count: 5, names: ['app.limit-c.com'], zone: 'limit-c.com', outcome: 'failed', windowMs: HOUR_MS },
      what: '5 failures of the name within an hour',
    },
    {
      ...{ count: 5, names: ['app.limit-d.com'], zone: 'limit-d.com', outcome: 'abandoned', windowMs: HOUR_MS },
      what: '5 failures of the name within an hour',
    },
  ])('$count orders ($outcome), $what are the limit', async ({ what, windowMs, ...earlier }) => {
    await ordered({ ...earlier, ageMs: windowMs - 10 * MINUTE_MS });
    const { id, domain } = await lab.begin(`app.${earlier.zone}`);
    const failed = await lab.reach(id, 'FAILED_RETRYING');
    expect(failed).toMatchObject({
      errorCode: 'ERR_GATEWAY_26038',
      message: `No certificate is ordered now: the limit of ${what} is reached.`,
      orders: [],
    });
    expect(Date.parse(failed.blockedUntil ?? '') - lab.now()).toBeGreaterThan(9 * MINUTE_MS);
    expect(Date.parse(failed.blockedUntil ?? '') - lab.now()).toBeLessThanOrEqual(10 * MINUTE_MS);
    expect(await lab.retry(id)).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
    expect(lab.authority.countOrders(domain)).toBe(0);
    lab.advance(12 * MINUTE_MS);
    await lab.reach(id, 'ISSUED');
  });

  test('one order less there is another one', async () => {
    await ordered({ count: 49, names: ['a.limit-e.com'], zone: 'limit-e.com', outcome: 'issued', ageMs: DAY_MS });
    await ordered({ count: 4, names: ['app.limit-e.com'], zone: 'limit-e.com', outcome: 'failed', ageMs: MINUTE_MS });
    await lab.reach((await lab.begin('app.limit-e.com')).id, 'ISSUED');
  });

  test('300 orders of this gateway within 3 hours no domain is ordered for', async () => {
    await ordered({ count: 300, names: ['a.b.test'], zone: 'b.test', outcome: 'issued', ageMs: 2.9 * HOUR_MS });
    const { id } = await lab.begin('app.limit-f.com');
    expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26038',
      message: 'No certificate is ordered now: the limit of 300 orders of this gateway within 3 hours is reached.',
    });
    lab.advance(0.2 * HOUR_MS);
    await lab.reach(id, 'ISSUED');
  });
});
