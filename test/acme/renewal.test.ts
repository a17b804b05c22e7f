// Renewals, shortened; `npm run soak -- long` has more authorities, and `npm run soak -- acme` has five years of them.

import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { shortened } from '../support/shortened.ts';
import { startCertificateLab } from './lab.ts';
import { passYears } from './scenarios/renewals.ts';

const DAY_MS = 86_400_000;
/** Hundreds of steps, each with its answers of the authority. */
const TIMEOUT = { timeout: 180_000 };

describe('at no hour is a domain without a certificate in force', () => {
  const authorities = [
    { days: 16, lifetimeDays: 6, hasRenewalInfo: true, awayEachDays: 5, least: 5, most: 8, hours: 36 },
    { days: 80, lifetimeDays: 90, hasRenewalInfo: true, awayEachDays: 29, least: 2, most: 3, hours: 20 * 24 },
    { days: 16, lifetimeDays: 6, hasRenewalInfo: false, least: 5, most: 8, hours: 60 },
    // As a private authority has them: far above the limits of public ones.
    { days: 5, lifetimeDays: 1, hasRenewalInfo: false, least: 9, most: 13, hours: 10 },
  ];
  test.each(shortened(authorities))(
    '$days days, certificates of $lifetimeDays days, renewal information: $hasRenewalInfo',
    TIMEOUT,
    async ({ least, most, hours, ...years }) => {
      const { certificates, leastHoursLeft } = await passYears({ ...years, names: ['app.example.com'] });
      expect(certificates).toBeGreaterThanOrEqual(least);
      expect(certificates).toBeLessThanOrEqual(most);
      expect(leastHoursLeft).toBeGreaterThan(hours);
    },
  );
});

describe('a renewal', () => {
  test('whose certificate was replaced by an order that nobody knows of is ordered without saying so', async () => {
    const lab = await startCertificateLab();
    try {
      const { id, domain } = await lab.begin('app.example.com');
      await lab.reach(id, 'ISSUED');
      lab.authority.faults.stuckOrders = true;
      lab.advance(65 * DAY_MS);
      await expect.poll(() => lab.authority.countOrders(domain)).toBe(2);
      await lab.reach(id, 'FINALIZING');
      // As after a crash between the answer of the authority and its storage.
      await lab.gateway.app.prisma.$executeRaw`
        UPDATE managed_certificate SET "order" = NULL, state = 'ordering', next_at = ${new Date(lab.now())}, lease_until = NULL, lease_number = lease_number + 1`;
      lab.authority.faults.stuckOrders = false;
      lab.wake();
      await expect.poll(() => lab.authority.countOrders(domain)).toBe(3);
      await lab.reach(id, 'ISSUED');
      expect(lab.authority.orders.at(-1)).toMatchObject({ replaces: undefined, status: 'valid' });
      const outcomes = (await lab.provisioning(id)).orders.map(({ outcome }) => outcome);
      // How often the order was begun anew before, depends on the moment of the crash.
      expect([outcomes[0], outcomes.at(-1)]).toEqual(['ISSUED', 'ISSUED']);
      expect(new Set(outcomes.slice(1, -1))).toEqual(new Set(['ABANDONED']));
    } finally {
      await lab.stop();
    }
  });

  test('for which the authority gives a window in the past, as for a revoked certificate, is done soon', async () => {
    const lab = await startCertificateLab();
    try {
      const { id, domain } = await lab.begin('app.example.com');
      await lab.reach(id, 'ISSUED');
      lab.authority.faults.renewalWindow = {
        ...{ start: lab.now() - 2 * DAY_MS, end: lab.now() - DAY_MS },
        explanationURL: 'https://ca.test/incident',
      };
      lab.advance(2 * 3_600_000);
      await expect.poll(() => lab.authority.countOrders(domain)).toBe(2);
      lab.authority.faults.renewalWindow = undefined;
      await lab.reach(id, 'ISSUED');
      expect(lab.authority.orders.at(-1)?.replaces).toBeDefined();
    } finally {
      await lab.stop();
    }
  });

  test('that fails until the certificate has expired is given up then, and not tried for ever', TIMEOUT, async () => {
    const lab = await startCertificateLab({ authority: { lifetimeDays: 6 } });
    try {
      const { id } = await lab.begin('app.example.com');
      const { notAfter } = await lab.reach(id, 'ISSUED');
      lab.authority.faults.refuse.newOrder = { status: 403, type: 'unauthorized', detail: 'no' };
      let attempts = 0;
      for (let state = ''; state !== 'PAUSED' && attempts < 100; ) {
        const { nextAt } = await lab.gateway.app.prisma.managedCertificate.findFirstOrThrow();
        if (nextAt === null) {
          // It was given up since its state was looked at.
          ({ state, attempts } = await lab.provisioning(id));
          continue;
        }
        lab.advance(Math.max(0, nextAt.getTime() - lab.now()) + 1);
        await eventually(async () => {
          expect((await lab.gateway.app.prisma.managedCertificate.findFirstOrThrow()).nextAt).not.toEqual(nextAt);
        });
        ({ state, attempts } = await lab.provisioning(id));
      }
      expect(await lab.provisioning(id)).toMatchObject({
        ...{ state: 'PAUSED', message: 'The certificate authority said: no', notAfter },
      });
      expect(lab.now()).toBeGreaterThan(Date.parse(notAfter ?? ''));
      expect(attempts).toBeGreaterThan(20);
    } finally {
      await lab.stop();
    }
  });
});
