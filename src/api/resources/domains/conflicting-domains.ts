// A reservation holds its name and everything below it: no other account may reserve a name there, or one above, and none
// may serve one right now.

import type { Db } from '../../../store/database/client.ts';
import { isWithin } from '../../../store/domains/dns-names.ts';
import { lockReservations, namesCovering } from '../../../store/domains/reservations.ts';
import { ApiError } from '../../errors/errors.ts';
import { servedOnLiveNodes } from '../tunnels/live-tunnels.ts';
import type { DomainName } from './domain-name.ts';

/** Listeners that visitors come to by a name: what is served there begins with one of these and a colon. */
const LISTENERS = ['http', 'tls'];

/**
 * To be called in the transaction that reserves the domain. Within one account, reservations may lie below each other.
 * @throws {ApiError} when the account has the very domain, or another account holds it or serves a name there.
 */
export async function checkHolders(db: Db, accountId: string, name: DomainName, baseDomain: string): Promise<void> {
  await lockReservations(db);
  await checkUnheld(db, accountId, name, baseDomain);
}

/** The same as it is now, without keeping others from reserving it. @throws {ApiError} likewise. */
export async function checkUnheld(
  db: Db,
  accountId: string,
  { domain, root }: DomainName,
  baseDomain: string,
): Promise<void> {
  const own = await db.reservedDomain.findFirst({ where: { accountId, domain }, select: { id: true } });
  if (own) throw new ApiError('domainReservedByYou', { member: 'domain' });

  const others = { accountId: { not: accountId } };
  const isBelow = (name: string) =>
    isWithin(baseDomain, root) ? { [name]: { endsWith: `.${baseDomain}` } } : undefined;
  const holder = await db.reservedDomain.findFirst({
    where: {
      ...others,
      OR: [
        { domain: { in: namesCovering(domain, baseDomain) } },
        { domain: { endsWith: `.${root}` }, NOT: isBelow('domain') },
      ],
    },
    select: { id: true },
  });
  const server = await db.endpoint.findFirst({
    where: {
      ...others,
      AND: [{ OR: await servedOnLiveNodes({ db }) }],
      OR: [
        { address: { in: LISTENERS.flatMap((listener) => [`${listener}:${root}`, `${listener}:*.${root}`]) } },
        { address: { endsWith: `.${root}` }, NOT: isBelow('address') },
      ],
    },
    select: { id: true },
  });
  if (holder || server) throw new ApiError('domainReservedByOther', { member: 'domain' });
}
