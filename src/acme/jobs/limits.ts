// The limits of Let's Encrypt, kept by the gateway itself, so that no domain uses up what others need. Renewals that are due are
// counted by none of them: certificates of a private authority may live for a day only.

import type { EarlierOrders } from './job-store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Limit {
  count: number;
  /** The time in which there may be so many, in milliseconds. */
  withinMs: number;
  /** What is counted, for people. */
  what: string;
}

/** As of August 2026, for its production. Those of others are rarely lower. */
export const LIMITS: Readonly<Record<keyof EarlierOrders, Limit>> = {
  all: { count: 300, withinMs: 3 * HOUR_MS, what: 'orders of this gateway within 3 hours' },
  ofRegisteredDomain: { count: 50, withinMs: 7 * DAY_MS, what: 'certificates of the registered domain within 7 days' },
  ofSameNames: { count: 5, withinMs: 7 * DAY_MS, what: 'certificates of the same names within 7 days' },
  failed: { count: 5, withinMs: HOUR_MS, what: 'failures of the name within an hour' },
};

/** The longest time that any limit looks back, in milliseconds. */
export const LONGEST_WINDOW_MS = Math.max(...Object.values(LIMITS).map(({ withinMs }) => withinMs));

/** @returns when all limits allow another order, with the reason; undefined: now. Times are in milliseconds since 1970. */
export function limitReached(earlier: EarlierOrders, now: number): { until: number; reason: string } | undefined {
  const reached = (Object.keys(LIMITS) as (keyof EarlierOrders)[]).flatMap((name) => {
    const { count, withinMs, what } = LIMITS[name];
    const oldest = earlier[name].toSorted((a, b) => b - a)[count - 1];
    if (oldest === undefined || oldest + withinMs <= now) return [];
    return { until: oldest + withinMs, reason: `the limit of ${count} ${what} is reached` };
  });
  return reached.toSorted((a, b) => b.until - a.until)[0];
}
