// Who has reserved which names. A reservation holds its name and everything below it.

import type { Db } from '../database/client.ts';
import { isWithin, namesAbove, namesServing, withoutWildcard } from './dns-names.ts';

/** The row that whoever reserves a domain locks, so that it is done one at a time. */
const LOCK = 'reserved_domains';

/** To be called once at every start: what is not there cannot be locked. A backup may not have the row. */
export async function createReservationsLock(db: Db): Promise<void> {
  await db.setting.createMany({ data: [{ name: LOCK, value: '' }], skipDuplicates: true });
}

/** Until the end of the transaction nobody else reserves a domain, or binds a name without one. */
export async function lockReservations(db: Db): Promise<void> {
  await db.$queryRaw`SELECT name FROM setting WHERE name = ${LOCK} FOR UPDATE`;
}

/** Until the end of the transaction nobody reserves a domain; others may ask for the same. */
export async function lockReservationsShared(db: Db): Promise<void> {
  await db.$queryRaw`SELECT name FROM setting WHERE name = ${LOCK} FOR SHARE`;
}

/**
 * The names of which one that is reserved holds this name: itself, those above it, and their wildcards. The base domain
 * belongs to nobody, nor does what is above it reach below it.
 */
export function namesCovering(name: string, baseDomain: string): string[] {
  const root = withoutWildcard(name);
  const above = namesAbove(root).filter((other) => !isWithin(root, baseDomain) || !isWithin(baseDomain, other));
  return [root, ...above].flatMap((other) => [other, `*.${other}`]);
}

/** The account's reservation that covers a name: its own, or the nearest wildcard above it. */
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
