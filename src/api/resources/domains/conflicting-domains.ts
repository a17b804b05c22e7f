// A reservation holds its name and everything below it: no other account may reserve a name there, or one above, and none may serve one
// right now. Below the base domain it holds the whole site, which no other account may use at all.

import type { Db } from '../../../store/database/client.ts';
import { isWithin } from '../../../store/domains/dns-names.ts';
import { lockReservations, namesCovering } from '../../../store/domains/reservations.ts';
import { isSiteFree, siteOfName, takeSite } from '../../../store/domains/sites.ts';
import { ApiError } from '../../errors/errors.ts';
import type { ApiSettings } from '../../settings.ts';
import { servedOnLiveNodes } from '../tunnels/live-tunnels.ts';
import type { DomainName } from './domain-name.ts';

/** Listeners that visitors come to by a name: what is served there begins with one of these and a colon. */
const LISTENERS = ['http', 'tls'];

type Settings = Pick<ApiSettings, 'baseDomain' | 'sessionHold'>;

/**
 * To be called in the transaction that reserves the domain. Within one account, reservations may lie below each other.
 * @throws {ApiError} when the account has the very domain, or another account holds it or serves a name there.
 */
export async function takeDomain(db: Db, accountId: string, name: DomainName, settings: Settings): Promise<void> {
  const site = siteOfName(name.domain, settings.baseDomain);
  if (site === undefined) await lockReservations(db);
  else if (!(await takeSite(db, { site, accountId }, scopeOf(settings)))) throw ofOther();
  await checkUnheld(db, accountId, name, settings);
}

/** The same as it is now, without keeping others from reserving it. @throws {ApiError} likewise. */
export async function checkDomainFree(db: Db, accountId: string, name: DomainName, settings: Settings): Promise<void> {
  const site = siteOfName(name.domain, settings.baseDomain);
  if (site !== undefined && !(await isSiteFree(db, { site, accountId }, scopeOf(settings)))) throw ofOther();
  await checkUnheld(db, accountId, name, settings);
}

/** The API serves no names itself. */
const scopeOf = ({ baseDomain, sessionHold }: Settings) => ({ baseDomain, nodeId: '', holdMs: sessionHold });

const ofOther = () => new ApiError('domainReservedByOther', { member: 'domain' });

async function checkUnheld(
  db: Db,
  accountId: string,
  { domain, root, isOurs }: DomainName,
  { baseDomain }: Settings,
): Promise<void> {
  const own = await db.reservedDomain.findFirst({ where: { accountId, domain }, select: { id: true } });
  if (own) throw new ApiError('domainReservedByYou', { member: 'domain' });

  const others = { accountId: { not: accountId } };
  const isBelow = (name: string) =>
    isWithin(baseDomain, root) ? { [name]: { endsWith: `.${baseDomain}` } } : undefined;
  // Those of one site may be of several accounts: reservations from before there were sites.
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
  if (holder) throw ofOther();
  if (isOurs) return;
  // An agent goes on where its reservation was deleted.
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
  if (server) throw ofOther();
}
