// Whether all names below a domain are an account's own.

import type { Db } from '../database/client.ts';
import { namesCovering } from './reservations.ts';

/** Whether the account has reserved the domain, a wildcard of it, or a domain above it: nobody else has names below it then. */
export async function hasReservationCovering(
  db: Pick<Db, 'reservedDomain'>,
  accountId: string,
  domain: string,
  baseDomain: string,
): Promise<boolean> {
  const where = { accountId, domain: { in: namesCovering(domain, baseDomain) } };
  return (await db.reservedDomain.count({ where })) > 0;
}
