// Reservations of domains by accounts. A reservation covers its name and everything below it.

import type { Db } from '../database/client.ts';
import { isWithin, namesAbove, namesServing, withoutWildcard } from './dns-names.ts';

/** The row that every reservation outside the base domain locks, so that they follow each other. */
const LOCK = 'reserved_domains';

/** Inserts the row that reservations lock. It is called at every start, because a restored backup may lack the row. */
export async function createReservationsLock(db: Db): Promise<void> {
  await db.setting.createMany({ data: [{ name: LOCK, value: '' }], skipDuplicates: true });
}

/** Until the transaction ends, no other transaction reserves a domain outside the base domain. */
export async function lockReservations(db: Db): Promise<void> {
  await db.$queryRaw`SELECT name FROM setting WHERE name = ${LOCK} FOR UPDATE`;
}

/**
 * The names whose reservations cover this name: itself, the names above it, and their wildcards. The base domain cannot be
 * reserved, and reservations above it do not cover names below it.
 */
export function namesCovering(name: string, baseDomain: string): string[] {
  const root = withoutWildcard(name);
  const above = namesAbove(root).filter((other) => !isWithin(root, baseDomain) || !isWithin(baseDomain, other));
  return [root, ...above].flatMap((other) => [other, `*.${other}`]);
}

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

/** The id of the account's reservation that serves a name: of the name itself, or of the nearest wildcard above it. */
export async function reservedFor(db: Db, accountId: string, hostname: string): Promise<string | null> {
  const names = namesServing(hostname);
  const rows = await db.reservedDomain.findMany({
    where: { accountId, domain: { in: names } },
    select: { id: true, domain: true },
  });
  return nearest(rows, names)?.id ?? null;
}

/** The row whose domain comes first among the names. */
export function nearest<T extends { domain: string }>(rows: T[], names: string[]): T | undefined {
  return rows
    .filter(({ domain }) => names.includes(domain))
    .sort((a, b) => names.indexOf(a.domain) - names.indexOf(b.domain))[0];
}
