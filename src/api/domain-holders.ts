// A reservation holds its name and everything below it: no other account may reserve a name there, or one above.

import type { Db } from '../store/client.ts';
import type { DomainName } from './domain-name.ts';
import { isWithin, namesAbove } from './domain-name.ts';
import { ApiError } from './errors.ts';

/** The row that whoever reserves a domain locks, so that it is done one at a time. */
const LOCK = 'reserved_domains';

/**
 * To be called in the transaction that reserves the domain. Within one account, reservations may lie below each other.
 * @throws {ApiError} when the account has the very domain, or another account holds it.
 */
export async function checkHolders(
  db: Db,
  accountId: string,
  { domain, root, isOurs }: DomainName,
  baseDomain: string,
): Promise<void> {
  await db.setting.createMany({ data: [{ name: LOCK, value: '' }], skipDuplicates: true });
  await db.$queryRaw`SELECT name FROM setting WHERE name = ${LOCK} FOR UPDATE`;

  const own = await db.reservedDomain.findFirst({ where: { accountId, domain }, select: { id: true } });
  if (own) throw new ApiError('domainReservedByYou', { member: 'domain' });

  // The base domain belongs to nobody, nor does what is above it reach below it.
  const above = namesAbove(root).filter((name) => !isOurs || !isWithin(baseDomain, name));
  const below = isWithin(baseDomain, root) ? { NOT: { domain: { endsWith: `.${baseDomain}` } } } : {};
  const other = await db.reservedDomain.findFirst({
    where: {
      accountId: { not: accountId },
      OR: [
        { domain: { in: [root, ...above].flatMap((name) => [name, `*.${name}`]) } },
        { domain: { endsWith: `.${root}` }, ...below },
      ],
    },
    select: { id: true },
  });
  if (other) throw new ApiError('domainReservedByOther', { member: 'domain' });
}
