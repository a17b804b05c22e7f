// `npm run soak -- acme`: YEARS (5) years of renewals, by a clock that is moved.

import { describe, expect, test } from 'vitest';
import { passYears } from '../../acme/scenarios/renewals.ts';

const YEARS = Number(process.env.YEARS || 5);
const TIMEOUT_MS = YEARS * 600_000;
const HOURS = 24;

describe(`at no hour of ${YEARS} years is a domain without a certificate in force`, () => {
  const authorities = [
    { authority: 'with renewal information', hasRenewalInfo: true },
    { authority: 'without renewal information', hasRenewalInfo: false },
    { authority: 'that is down for a day now and then', hasRenewalInfo: true, awayEachDays: 11 },
  ];
  const cases = [90, 45, 6].flatMap((lifetimeDays) => authorities.map((authority) => ({ lifetimeDays, ...authority })));
  test.each(cases)(
    'certificates of $lifetimeDays days, of an authority $authority',
    { timeout: TIMEOUT_MS },
    async ({ authority, ...years }) => {
      const names = ['app.first.com', '*.second.com'];
      const { certificates, leastHoursLeft, steps } = await passYears({ ...years, days: YEARS * 365, names });
      process.stdout.write(
        `${years.lifetimeDays} days, ${authority}: ${certificates} certificates of each domain in ${steps} steps, the least left was ${Math.round(leastHoursLeft)} hours\n`,
      );
      const left = years.lifetimeDays < 10 ? 0.5 : 1 / 3;
      expect(certificates).toBeLessThan(((YEARS * 365) / years.lifetimeDays / (1 - left)) * 1.2 + 2);
      // Down for a day, and tried again daily at the latest.
      expect(leastHoursLeft).toBeGreaterThan(
        years.lifetimeDays * HOURS * (left - 0.03) - 2 * HOURS * (years.awayEachDays ? 1 : 0),
      );
    },
  );
});
