// Many domains at once on two gateways with one database: each is ordered once, and renewed once.

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Domain, startCertificateLab } from '../lab.ts';

const HOUR_MS = 3_600_000;
/** Six days of life: half of them are left when they are renewed, and authorizations are good for a week. */
const LIFETIME_DAYS = 6;

export interface ManyDomains {
  count: number;
  /** Whether the authority has no proofs again that it has had. */
  reusesAuthorizations: boolean;
  timeoutMs: number;
}

export interface Durations {
  issuedMs: number;
  renewedMs: number;
}

export async function manyDomains({ count, reusesAuthorizations, timeoutMs }: ManyDomains): Promise<Durations> {
  const lab = await startCertificateLab({ authority: { lifetimeDays: LIFETIME_DAYS } });
  try {
    lab.authority.faults.reusesAuthorizations = reusesAuthorizations;
    const other = await lab.join();
    const domains: Domain[] = [];
    for (let index = 0; index < count; index++) domains.push(await lab.reserve(`app.many-${index}.com`));
    for (const domain of domains) lab.point(domain);
    const { prisma } = lab.gateway.app;
    const validOrders = () => lab.authority.orders.filter(({ status }) => status === 'valid').length;
    const allIssued = async (total: number) => {
      const began = performance.now();
      await eventually(
        async () => {
          const rows = await prisma.managedCertificate.findMany({ orderBy: { id: 'asc' } });
          // With what each waits for, in case that one is late.
          const states = rows.map(({ state, message }) => (state === 'ISSUED' ? state : `${state}: ${message}`));
          expect(states).toEqual(Array.from({ length: count }, () => 'ISSUED'));
          expect(validOrders()).toBe(total);
        },
        { timeout: timeoutMs, interval: 50 },
      );
      return Math.round(performance.now() - began);
    };
    // Each was looked up once: one whose records were not there yet is looked up again when the clock has moved.
    await eventually(async () => {
      const rows = await prisma.managedCertificate.findMany({ select: { records: true, leaseUntil: true } });
      expect(rows.filter(({ records, leaseUntil }) => leaseUntil === null && String(records) !== '')).toHaveLength(
        count,
      );
    });
    lab.advance(HOUR_MS / 60);
    const issuedMs = await allIssued(count);
    lab.advance(3.5 * 24 * HOUR_MS);
    const renewedMs = await allIssued(2 * count);

    for (const { domain } of domains) expect(lab.authority.countOrders(domain), domain).toBe(2);
    expect(lab.authority.accountUrls).toHaveLength(1);
    expect(await prisma.tlsCertificate.count()).toBe(count);
    const orders = await prisma.certificateOrder.groupBy({ by: ['outcome', 'isRenewal'], _count: true });
    expect(orders.map(({ outcome, isRenewal, _count }) => ({ outcome, isRenewal, count: _count }))).toEqual(
      expect.arrayContaining([
        { outcome: 'issued', isRenewal: false, count },
        { outcome: 'issued', isRenewal: true, count },
      ]),
    );
    expect(orders).toHaveLength(2);
    expect(await prisma.acmeChallenge.count()).toBe(0);
    expect(lab.authority.orders.filter(({ replaces }) => replaces !== undefined)).toHaveLength(count);
    for (const { logs } of [lab.gateway, other])
      expect(logs.filter((line) => /a step of a certificate was lost|unexpected error/.test(line))).toEqual([]);
    return { issuedMs, renewedMs };
  } finally {
    await lab.stop();
  }
}
