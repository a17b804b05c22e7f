// Settles which account has which site, where names are used without it having been asked: by versions before there were sites, one of
// which may still run beside this one, after a backup was restored, and below another base domain. The oldest use decides.

import { retryOnConflict } from '../database/retry-on-conflict.ts';
import { lockReservations, namesCovering } from '../domains/reservations.ts';
import { giveSites, lockSites, type SiteHolder, type SiteScope, siteUses } from '../domains/sites.ts';
import type { AuditContext, AuditEvent } from '../events/audit.ts';
import { findSubscriptions, writeAudit } from '../events/outbox.ts';
import { endSessions } from './end-session.ts';
import type { RegistrarDeps } from './registrar-deps.ts';

/** The reason that events and offline endpoints show. */
const REASON = 'another account used the site of this name first, and keeps it';

/** Names of one site that two accounts used. */
export interface NameConflict {
  site: string;
  /** The account that keeps the site. */
  accountId: string;
  /** The account whose names were ended. */
  otherAccountId: string;
  names: string[];
}

interface SiteUse extends SiteHolder {
  host: string;
  /** Null of a reservation, and of an address that is held for an agent. */
  endpointId: string | null;
  /** Null of a reservation. */
  address: string | null;
}

/**
 * Gives each site that is used to one account, and ends what others serve there or have held for their agents, but for names that they
 * have reserved. Any number of nodes may do it at once and again: where all is settled, it is one query.
 * @returns what was ended.
 */
export async function settleSites(
  { prisma, changes, baseUrl }: Pick<RegistrarDeps, 'prisma' | 'changes' | 'baseUrl'>,
  scope: SiteScope,
): Promise<NameConflict[]> {
  const unsettled = await prisma.$queryRaw<object[]>`
    SELECT 1 FROM (${siteUses(scope)}) AS used LEFT JOIN site ON site.name = used.site
    WHERE site.account_id IS DISTINCT FROM used.account_id LIMIT 1`;
  if (unsettled.length === 0) return [];
  return retryOnConflict(() =>
    changes.transaction(prisma, (db, announce) => settle({ db, announce, baseUrl: baseUrl() }, scope)),
  );
}

async function settle(audit: AuditContext, scope: SiteScope): Promise<NameConflict[]> {
  const { db } = audit;
  await lockReservations(db); // Nodes that start at once do this one after the other.
  const oldest = new Map<string, SiteHolder>();
  for (const use of await usesUnsettled(audit, scope)) if (!oldest.has(use.site)) oldest.set(use.site, use);
  if (oldest.size === 0) return [];
  const locked = await db.$queryRaw<{ name: string; account_id: string }[]>(lockSites([...oldest.values()]));
  const owners = new Map(locked.map(({ name, account_id }) => [name, account_id]));
  // Others may have been bound until the rows were locked.
  const uses = (await usesUnsettled(audit, scope, [...oldest.keys()])).filter(({ site }) => owners.has(site));
  const isUsed = new Set(uses.filter(({ site, accountId }) => owners.get(site) === accountId).map(({ site }) => site));
  const moved = [...oldest.values()].filter(({ site }) => !isUsed.has(site));
  await giveSites(db, moved);
  for (const { site, accountId } of moved) owners.set(site, accountId);

  const ending = uses.filter((use) => owners.get(use.site) !== use.accountId && !isReserved(use, uses, scope));
  await endUses(audit, ending, scope.holdMs);
  const conflicts = conflictsOf(ending, owners);
  await writeConflicts(audit, conflicts);
  return conflicts;
}

/** The uses of sites that are not all of the account of the row, the oldest of each site first. @param sites further ones. */
function usesUnsettled(
  { db }: Pick<AuditContext, 'db'>,
  scope: SiteScope,
  sites: readonly string[] = [],
): Promise<SiteUse[]> {
  return db.$queryRaw<SiteUse[]>`
    WITH used AS (${siteUses(scope)})
    SELECT site, account_id AS "accountId", host, endpoint_id AS "endpointId", address FROM used
    WHERE site = ANY(${[...sites]}) OR site IN (
      SELECT u.site FROM used u LEFT JOIN site s ON s.name = u.site WHERE s.account_id IS DISTINCT FROM u.account_id)
    ORDER BY site, since, account_id, host`;
}

/** Whether the account has reserved the name, or one above it. */
function isReserved({ accountId, host }: SiteUse, uses: readonly SiteUse[], { baseDomain }: SiteScope): boolean {
  const covering = namesCovering(host, baseDomain);
  return uses.some((one) => one.address === null && one.accountId === accountId && covering.includes(one.host));
}

/** Ends the sessions that serve them: their agents bind what else they serve anew. */
async function endUses(audit: AuditContext, uses: readonly SiteUse[], holdMs: number): Promise<void> {
  const { db } = audit;
  const endpointIds = uses.flatMap(({ endpointId }) => endpointId ?? []);
  const sessions = await db.$queryRaw<{ id: string }[]>`
    SELECT t.session_id AS id FROM endpoint e JOIN tunnel t ON t.id = e.tunnel_id WHERE e.id = ANY(${endpointIds})
    UNION SELECT l.session_id FROM endpoint e JOIN tunnel_leg l ON l.tunnel_id = e.tunnel_id WHERE e.id = ANY(${endpointIds})`;
  await endSessions(
    audit,
    sessions.map(({ id }) => id),
    { holdMs, reason: REASON, ingressOf: () => undefined },
  );
  const addresses = uses.flatMap(({ address }) => address ?? []);
  await db.$executeRaw`DELETE FROM claim WHERE address = ANY(${addresses}) AND held_until IS NOT NULL`;
}

function conflictsOf(ending: readonly SiteUse[], owners: ReadonlyMap<string, string>): NameConflict[] {
  const conflicts = new Map<string, NameConflict>();
  for (const { site, accountId: otherAccountId, host } of ending) {
    const key = `${site} ${otherAccountId}`;
    const conflict = conflicts.get(key) ?? { site, accountId: owners.get(site) ?? '', otherAccountId, names: [] };
    conflicts.set(key, conflict);
    if (!conflict.names.includes(host)) conflict.names.push(host);
  }
  return [...conflicts.values()];
}

/** Tells both accounts. Neither learns which the other one is. */
async function writeConflicts(audit: AuditContext, conflicts: readonly NameConflict[]): Promise<void> {
  if (conflicts.length === 0) return;
  const type = 'name_conflict_settled.v0';
  const accountIds = conflicts.flatMap(({ accountId, otherAccountId }) => [accountId, otherAccountId]);
  const subscriptions = await findSubscriptions(audit.db, accountIds, [type]);
  const events = conflicts.flatMap(({ site, accountId, otherAccountId, names }): AuditEvent[] => [
    { type, accountId, principal: null, object: { site, is_kept: true, ended_names: names } },
    { type, accountId: otherAccountId, principal: null, object: { site, is_kept: false, ended_names: names } },
  ]);
  await writeAudit(audit, events, subscriptions);
}
