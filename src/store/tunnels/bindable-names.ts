// Decides whether an account may serve a name: by its own reservations, those of others, who uses the site that it is in, and the
// gateway's own names.

import type { AgentRefusal } from '../../tunnel/control/registrar.ts';
import { isInternalName } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import { isWithin, namesServing } from '../domains/dns-names.ts';
import { namesCovering, nearest } from '../domains/reservations.ts';
import { decideSites, lockSites, type SiteHolder, siteOfName } from '../domains/sites.ts';
import type { RegistrarSettings } from './registrar-deps.ts';

interface Reservation {
  id: string;
  accountId: string;
  domain: string;
}

/** A name that an account wants to serve. */
export interface WantedName {
  accountId: string;
  /** Null for TCP addresses, which have no name. */
  hostname: string | null;
}

/** The account's reservation that serves a name; null if it has none and needs none. Or why the name is refused. */
type NameAnswer = { domainId: string | null } | AgentRefusal;

/**
 * Decides about each name, and keeps it so until the transaction ends: the sites are locked, and so are reservations. It takes one
 * statement, and more where a site was another account's before.
 */
export async function takeNames(
  db: Db,
  wanted: readonly WantedName[],
  { settings, nodeId }: { settings: RegistrarSettings; nodeId: string },
): Promise<NameAnswer[]> {
  const { baseDomain } = settings;
  const names = new Set(wanted.flatMap(({ hostname }) => namesToLookUp(hostname, settings)));
  if (names.size === 0) return wanted.map(() => ({ domainId: null }));
  const sites = new Map<string, SiteHolder>();
  for (const holder of wanted.flatMap((name) => siteWantedBy(name, settings) ?? []))
    if (!sites.has(holder.site)) sites.set(holder.site, holder);
  const { reservations, locked } = await readNames(db, [...names], [...sites.values()]);

  const answers = wanted.map((name) => answerByReservation(name, reservations, settings));
  const contenders = wanted.flatMap((name, i) => (answers[i] ? [] : (siteWantedBy(name, settings) ?? [])));
  const scope = { baseDomain, nodeId, holdMs: settings.sessionHold };
  const owners = contenders.length === 0 ? undefined : await decideSites(db, locked, contenders, scope);
  return wanted.map(({ accountId, hostname }, i) => {
    const answer = answers[i];
    if (answer || hostname === null) return answer ?? { domainId: null };
    const isOwn = owners?.get(siteOfName(hostname, baseDomain) ?? '') === accountId;
    return isOwn ? { domainId: null } : { refused: 'reservedByOther', target: hostname };
  });
}

/** Locks sites, and reads and locks reservations. */
async function readNames(
  db: Db,
  names: readonly string[],
  sites: readonly SiteHolder[],
): Promise<{ reservations: ReadonlyMap<string, Reservation>; locked: SiteHolder[] }> {
  // It may wait for another transaction in one of the sites, and does not see what reservations that made. They are of the account
  // that has the site then.
  const rows = await db.$queryRaw<Reservation[]>`
    WITH site_row AS (${lockSites(sites)}),
    reservation AS (SELECT id, account_id, domain FROM reserved_domain WHERE domain = ANY(${[...names]}) FOR SHARE)
    SELECT '' AS id, account_id AS "accountId", name AS domain FROM site_row
    UNION ALL SELECT id, account_id, domain FROM reservation`;
  const locked = rows.flatMap(({ id, accountId, domain: site }) => (id === '' ? [{ site, accountId }] : []));
  return { reservations: new Map(rows.flatMap((row) => (row.id === '' ? [] : [[row.domain, row]]))), locked };
}

/** The names whose reservations decide about a name. Internal names need none, because each account has its own. */
function namesToLookUp(hostname: string | null, { baseDomain }: RegistrarSettings): string[] {
  return hostname === null || isInternalName(hostname)
    ? []
    : [...ownNames(hostname), ...namesCovering(hostname, baseDomain)];
}

function ownNames(hostname: string): string[] {
  return hostname.startsWith('*.') ? [hostname] : namesServing(hostname);
}

/** The site of a name that needs no reservation; undefined for all other names. */
function siteWantedBy({ accountId, hostname }: WantedName, settings: RegistrarSettings): SiteHolder | undefined {
  const { baseDomain, cnameDomain, acmeDomain } = settings;
  if (hostname === null || hostname.startsWith('*.') || isInternalName(hostname)) return undefined;
  if ([cnameDomain, acmeDomain].some((zone) => isWithin(hostname, zone) && !isWithin(baseDomain, zone)))
    return undefined;
  const site = siteOfName(hostname, baseDomain);
  return site === undefined ? undefined : { site, accountId };
}

/** @returns undefined when the site decides. */
function answerByReservation(
  name: WantedName,
  reservations: ReadonlyMap<string, Reservation>,
  settings: RegistrarSettings,
): NameAnswer | undefined {
  const { accountId, hostname } = name;
  if (hostname === null || isInternalName(hostname)) return { domainId: null };
  const holders = namesCovering(hostname, settings.baseDomain).flatMap((other) => reservations.get(other) ?? []);
  if (holders.some((row) => row.accountId !== accountId)) return { refused: 'reservedByOther', target: hostname };
  const own = ownNames(hostname);
  const covering = nearest(
    own.flatMap((other) => reservations.get(other) ?? []).filter((row) => row.accountId === accountId),
    own,
  );
  if (covering) return { domainId: covering.id };
  if (!siteWantedBy(name, settings)) return { refused: 'notReserved', target: hostname };
  // A reservation holds all names below it.
  return holders.length > 0 ? { domainId: null } : undefined;
}
