// Parts of a timestamp, such as `getHours()`, in UTC or in a time zone. They do not depend on the zone of this machine.

import { type CelFunc, celMethod } from '@bufbuild/cel';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { LRUCache } from 'lru-cache';
import { spend } from '../cost-budget.ts';
import { INT, STRING, TIMESTAMP } from '../types.ts';

const DAY = 24 * 60 * 60 * 1000;

/** The functions by name. Each gets a date whose UTC fields are the local time in the zone. */
const PARTS: Record<string, (date: Date) => number> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => Math.floor((date.getTime() - new Date(date).setUTCMonth(0, 1)) / DAY),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

/** The names of the functions. Each accepts a time zone as its argument. */
export const TIME_METHODS: ReadonlySet<string> = new Set(Object.keys(PARTS));

const zones = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 });

/** The offset of a time zone from UTC at a date, in milliseconds. @throws {Error} for an unknown zone. */
export function zoneOffset(zone: string, date: Date): number {
  const fixed = /^([-+]?)(\d\d):(\d\d)$/.exec(zone);
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
  const whole = Math.floor(date.getTime() / 1000) * 1000;
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(whole)
      .map(({ type, value }) => [type, value]),
  );
  const year = parts.era === 'BC' ? 1 - Number(parts.year) : Number(parts.year);
  const local = new Date(0);
  local.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day));
  local.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
  return local.getTime() - whole;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = zones.get(zone);
  if (format) return format;
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      ...numeric,
      second: 'numeric',
      era: 'short',
      hourCycle: 'h23',
      timeZone: zone,
    });
  } catch {
    throw new Error(`${JSON.stringify(zone.slice(0, 40))} is no time zone: one is written as Europe/Berlin or +02:00`);
  }
  zones.set(zone, format);
  return format;
}

export const TIME_FUNCTIONS: CelFunc[] = Object.entries(PARTS).flatMap(([name, part]) => [
  celMethod(name, TIMESTAMP, [], INT, function () {
    return BigInt(part(timestampDate(this.message as Timestamp)));
  }),
  celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
    spend(100);
    const date = timestampDate(this.message as Timestamp);
    return BigInt(part(new Date(date.getTime() + zoneOffset(zone, date))));
  }),
]);
