// The database's clock, which tests move.

import { Prisma } from '../generated/prisma/client.ts';

export interface Clock {
  /** What to add to the database's time: milliseconds, 0 outside of tests. */
  skew(): number;
}

/** The time, in SQL. */
export function nowOf({ skew }: Clock): Prisma.Sql {
  return Prisma.sql`(now() + ${Math.round(skew())} * interval '1 millisecond')`;
}
