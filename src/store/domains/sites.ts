// Sites: the labels directly below the base domain, each with all names at and below it, as browsers take them once the base domain is
// a public suffix. A site is one account's while that uses any name in it, whatever the scheme: a live endpoint, one that is held for
// its agent, or a reservation, without which there are no edges and no cloud endpoints.
//
// Whoever begins to use a name locks the row of its site until its transaction ends, so that of two accounts only one gets it. A row
// may outlive what was used. Locks are taken in this order: credentials, sites by name, reservations, claims.

import type { Db } from '../database/client.ts';
import { toJsonRows } from '../database/json-rows.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { isWithin, withoutWildcard } from './dns-names.ts';

/** An account that wants to use a name in a site, or has the row of one. */
export interface SiteHolder {
  site: string;
  accountId: string;
}

/** Where uses are looked for. */
export interface SiteScope {
  baseDomain: string;
  /** This node, which counts as alive; '' where the caller serves nothing. */
  nodeId: string;
  /** How long the addresses of a lost node are held for its agents, in milliseconds. */
  holdMs: number;
}

/** The site that a name is in; undefined outside the base domain, where names have to be reserved. */
export function siteOfName(name: string, baseDomain: string): string | undefined {
  const root = withoutWildcard(name);
  if (root === baseDomain || !isWithin(root, baseDomain)) return undefined;
  const below = root.slice(0, -baseDomain.length - 1);
  return root.slice(below.lastIndexOf('.') + 1);
}

/** Locks the rows of sites, and inserts those that are missing; returns `name` and `account_id`. One row for each site at most. */
export const lockSites = (holders: readonly SiteHolder[]) => Prisma.sql`
  INSERT INTO site (name, account_id)
  SELECT site, account_id
  FROM json_to_recordset(${toJsonRows(holders.map(({ site, accountId }) => ({ site, account_id: accountId })))}::json)
    AS w(site text, account_id text) ORDER BY site
  ON CONFLICT (name) DO UPDATE SET name = EXCLUDED.name RETURNING name, account_id`;

/**
 * Every use of a site, as `site`, `account_id`, `host`, `since`, `endpoint_id` where an endpoint serves it, and `address` but of
 * reservations. Of an address that is held only, the time at which it was bound is known by what went offline.
 * @param accountIds whose uses are looked for, by indexes; left out, everybody's.
 */
export function siteUses({ baseDomain, nodeId, holdMs }: SiteScope, accountIds?: readonly string[]): Prisma.Sql {
  const suffix = `.${baseDomain}`;
  const isBelow = (column: string) => Prisma.sql`right(${Prisma.raw(column)}, ${suffix.length}::int) = ${suffix}`;
  const isOf = (column: string) =>
    accountIds ? Prisma.sql`AND ${Prisma.raw(column)} = ANY(${[...accountIds]})` : Prisma.empty;
  const isAlive = Prisma.sql`(n.id = ${nodeId} OR n.lease_until + ${holdMs} * interval '1 millisecond' > now())`;
  return Prisma.sql`
    SELECT substring(left(host, -${suffix.length}::int) FROM '[^.]*$') || ${suffix} AS site, u.* FROM (
      SELECT e.account_id, split_part(e.address, ':', 2) AS host, e.created_at AS since, e.id AS endpoint_id, e.address FROM endpoint e
      WHERE ${isBelow('e.address')} ${isOf('e.account_id')} AND (
        EXISTS (SELECT 1 FROM node n WHERE n.id = e.node_id AND ${isAlive})
        OR EXISTS (SELECT 1 FROM tunnel_leg l JOIN node n ON n.id = l.node_id WHERE l.tunnel_id = e.tunnel_id AND ${isAlive}))
      UNION ALL
      SELECT c.account_id, split_part(c.address, ':', 2), coalesce(o.online_at, now()), NULL, c.address FROM claim c
      LEFT JOIN offline_endpoint o ON o.account_id = c.account_id AND o.address = c.address
      WHERE c.held_until > now() AND ${isBelow('c.address')} ${isOf('c.account_id')}
      UNION ALL
      SELECT d.account_id, d.domain, d.created_at, NULL, NULL FROM reserved_domain d
      WHERE ${isBelow('d.domain')} ${isOf('d.account_id')}
    ) AS u`;
}

/** The accounts, of these or all, that use each of these sites now. */
async function siteUsers(
  db: Db,
  sites: readonly string[],
  scope: SiteScope,
  accountIds?: readonly string[],
): Promise<Map<string, Set<string>>> {
  const rows = await db.$queryRaw<SiteHolder[]>`
    SELECT DISTINCT site, account_id AS "accountId" FROM (${siteUses(scope, accountIds)}) AS used WHERE site = ANY(${[...sites]})`;
  const users = new Map<string, Set<string>>(sites.map((site) => [site, new Set()]));
  for (const { site, accountId } of rows) users.get(site)?.add(accountId);
  return users;
}

/**
 * Decides who gets sites whose rows are locked: the account of the row, or the first that wants a site that no other account uses any
 * more. Costs nothing where each row is of an account that wants its site.
 * @returns the account of each site.
 */
export async function decideSites(
  db: Db,
  locked: readonly SiteHolder[],
  wanted: readonly SiteHolder[],
  scope: SiteScope,
): Promise<Map<string, string>> {
  const owners = new Map(locked.map(({ site, accountId }) => [site, accountId]));
  const claimants = new Map<string, string[]>();
  for (const { site, accountId } of wanted) claimants.set(site, [...(claimants.get(site) ?? []), accountId]);
  const others = [...claimants.keys()].filter((site) => !claimants.get(site)?.includes(owners.get(site) ?? ''));
  if (others.length === 0) return owners;
  // Most are in use by the account of the row, which is looked up fast, however often somebody asks for what is another's.
  const ownerIds = others.flatMap((site) => owners.get(site) ?? []);
  const usedByOwners = await siteUsers(db, others, scope, ownerIds);
  const left = others.filter((site) => !usedByOwners.get(site)?.has(owners.get(site) ?? ''));
  if (left.length === 0) return owners;
  const moved: SiteHolder[] = [];
  for (const [site, users] of await siteUsers(db, left, scope)) {
    const next = claimants.get(site)?.find((accountId) => [...users].every((user) => user === accountId));
    if (next !== undefined) moved.push({ site, accountId: next });
  }
  await giveSites(db, moved);
  for (const { site, accountId } of moved) owners.set(site, accountId);
  return owners;
}

/** Gives sites, whose rows are locked, to other accounts. */
export async function giveSites(db: Db, holders: readonly SiteHolder[]): Promise<void> {
  if (holders.length === 0) return;
  const rows = toJsonRows(holders.map(({ site, accountId }) => ({ site, account_id: accountId })));
  await db.$executeRaw`
    UPDATE site SET account_id = w.account_id FROM json_to_recordset(${rows}::json) AS w(site text, account_id text)
    WHERE site.name = w.site`;
}

/** Takes one site for an account, until the transaction ends. @returns false when it is another account's. */
export async function takeSite(db: Db, holder: SiteHolder, scope: SiteScope): Promise<boolean> {
  const rows = await db.$queryRaw<{ name: string; account_id: string }[]>(lockSites([holder]));
  const locked = rows.map(({ name: site, account_id: accountId }) => ({ site, accountId }));
  const owners = await decideSites(db, locked, [holder], scope);
  return owners.get(holder.site) === holder.accountId;
}

/** Whether an account could take a site now. */
export async function isSiteFree(db: Db, { site, accountId }: SiteHolder, scope: SiteScope): Promise<boolean> {
  const row = await db.site.findUnique({ where: { name: site } });
  if (row === null || row.accountId === accountId) return true;
  const users = (await siteUsers(db, [site], scope)).get(site) ?? new Set();
  return [...users].every((user) => user === accountId);
}

/** The most rows that one transaction deletes. Binds in their sites wait for it. */
const SWEPT_MAX = 1000;

/**
 * Deletes the rows of sites that nobody uses. What is locked is being used, or will be. Of what is not, a bind may just have been
 * committed that this statement's snapshot lacks: so it is looked at again once it is locked.
 * @returns whether there may be more.
 */
export async function sweepSites(db: Db, scope: SiteScope): Promise<boolean> {
  const unused = await db.$queryRaw<{ name: string }[]>`
    WITH used AS MATERIALIZED (SELECT DISTINCT site FROM (${siteUses(scope)}) AS u)
    SELECT s.name FROM site s LEFT JOIN used ON used.site = s.name WHERE used.site IS NULL
    ORDER BY s.name LIMIT ${SWEPT_MAX} FOR UPDATE OF s SKIP LOCKED`;
  if (unused.length === 0) return false;
  const users = await siteUsers(
    db,
    unused.map(({ name }) => name),
    scope,
  );
  const left = unused.flatMap(({ name }) => (users.get(name)?.size === 0 ? [name] : []));
  await db.site.deleteMany({ where: { name: { in: left } } });
  return left.length === SWEPT_MAX;
}
