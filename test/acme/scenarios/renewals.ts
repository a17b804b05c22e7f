// Years of renewals, by a clock that is moved to whatever is due next: at no hour is a domain without a certificate in force.

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type CertificateLab, type Domain, startCertificateLab } from '../lab.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What a step sets off at once is over within this time of the moved clock. */
const SETTLED_MS = 2000;

export interface Years {
  /** How long the time is that passes. */
  days: number;
  lifetimeDays: number;
  /** Whether the authority says when it wants certificates renewed. */
  hasRenewalInfo: boolean;
  /** The authority is away for a day, each time so many days have passed; never when left out. */
  awayEachDays?: number;
  names: string[];
}

export interface Renewals {
  /** Certificates of each domain. */
  certificates: number;
  /** The shortest time that any of them had left when it was renewed, in hours. */
  leastHoursLeft: number;
  /** How often the clock was moved. */
  steps: number;
}

export async function passYears({ days, lifetimeDays, hasRenewalInfo, awayEachDays, names }: Years): Promise<Renewals> {
  const lab = await startCertificateLab({ authority: { lifetimeDays, hasRenewalInfo } });
  try {
    const domains: Domain[] = [];
    for (const name of names) domains.push(await lab.begin(name));
    for (const { id } of domains) await lab.reach(id, 'ISSUED');
    const begin = lab.now();
    const end = begin + days * DAY_MS;
    const outage = outagesOf(lab, begin, awayEachDays);
    let leastLeft = Number.POSITIVE_INFINITY;
    let steps = 0;
    const known = new Map<string, number>();
    while (lab.now() < end) {
      const dueAt = await nextDue(lab);
      lab.advance(Math.max(0, Math.min(dueAt, outage.nextAt()) - lab.now()) + 1);
      outage.follow();
      await settled(lab);
      steps++;
      for (const { id, dnsNames, notAfter } of await inForce(lab)) {
        const left = notAfter.getTime() - lab.now();
        expect(left, `${dnsNames} on day ${(lab.now() - begin) / DAY_MS}`).toBeGreaterThan(0);
        const before = known.get(id);
        if (before !== undefined && before < notAfter.getTime()) leastLeft = Math.min(leastLeft, before - lab.now());
        known.set(id, notAfter.getTime());
      }
      expect(known.size).toBe(names.length);
    }
    const issued = lab.authority.orders.filter(({ status }) => status === 'valid').length;
    return { certificates: issued / names.length, leastHoursLeft: leastLeft / HOUR_MS, steps };
  } finally {
    await lab.stop();
  }
}

/** When the next step of any domain is. */
async function nextDue({ gateway: { app } }: CertificateLab): Promise<number> {
  const { _min } = await app.prisma.managedCertificate.aggregate({ _min: { nextAt: true } });
  return _min.nextAt?.getTime() ?? expect.fail('nothing is ever due again');
}

/** Waits until nothing is due, and nothing is worked on. */
async function settled(lab: CertificateLab): Promise<void> {
  await eventually(
    async () => {
      const rows = await lab.gateway.app.prisma.managedCertificate.findMany({
        select: { names: true, nextAt: true, leaseUntil: true, state: true, message: true },
      });
      const busy = rows.find(
        ({ nextAt, leaseUntil }) =>
          leaseUntil !== null || (nextAt !== null && nextAt.getTime() < lab.now() + SETTLED_MS),
      );
      // Polls of the authority are due soon: nobody waits for them in real time.
      if (busy?.nextAt && busy.leaseUntil === null) lab.advance(Math.max(0, busy.nextAt.getTime() - lab.now()));
      if (busy) throw new Error(`still at work: ${JSON.stringify(busy)}`);
    },
    { interval: 2 },
  );
}

const inForce = ({ gateway: { app } }: CertificateLab) =>
  app.prisma.tlsCertificate.findMany({ select: { id: true, dnsNames: true, notAfter: true } });

/** The days on which the authority is away. */
function outagesOf({ authority, now }: CertificateLab, begin: number, eachDays: number | undefined) {
  let nextAt = eachDays === undefined ? Number.POSITIVE_INFINITY : begin + eachDays * DAY_MS;
  let isAway = false;
  return {
    nextAt: () => nextAt,
    follow() {
      if (now() < nextAt || eachDays === undefined) return;
      isAway = !isAway;
      const refusal = { status: 502 };
      authority.faults.refuse = isAway
        ? { newOrder: refusal, newNonce: refusal, order: refusal, renewalInfo: refusal, directory: refusal }
        : {};
      nextAt += isAway ? DAY_MS : (eachDays - 1) * DAY_MS;
    },
  };
}
