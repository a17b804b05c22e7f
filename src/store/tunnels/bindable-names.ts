// Decides whether an account may serve a name, by its own reservations, those of others, and the gateway's own names.

import type { AgentRefusal, BindRequest } from '../../tunnel/control/registrar.ts';
import { isInternalName } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import { isWithin, namesServing, withoutWildcard } from '../domains/dns-names.ts';
import { lockReservationsShared, namesCovering, nearest } from '../domains/reservations.ts';
import type { RegistrarSettings } from './registrar-deps.ts';

interface Reservation {
  id: string;
  accountId: string;
  domain: string;
}

/** Must be called first in a transaction that binds, so that a name without a reservation is not reserved meanwhile. */
export async function lockNames(
  db: Db,
  requests: readonly Pick<BindRequest, 'hostname' | 'isGenerated'>[],
  { baseDomain }: RegistrarSettings,
): Promise<void> {
  // Nobody reserves a random name at the same time, and a name that must be reserved has a row of its own to lock.
  const isFree = ({ hostname, isGenerated }: Pick<BindRequest, 'hostname' | 'isGenerated'>) =>
    !isGenerated && isWithin(hostname, baseDomain);
  if (requests.some(isFree)) await lockReservationsShared(db);
}

/** A name that an account wants to serve. */
export interface WantedName {
  accountId: string;
  /** Null for TCP addresses, which have no name. */
  hostname: string | null;
}

/** @returns for each name the account's reservation that covers it (null if it has none and needs none), or why it is refused. */
export async function reservationsOf(
  db: Db,
  wanted: readonly WantedName[],
  settings: RegistrarSettings,
): Promise<({ domainId: string | null } | AgentRefusal)[]> {
  const names = [...new Set(wanted.flatMap(({ hostname }) => namesToLookUp(hostname, settings)))];
  // The rows are locked, so that a reservation is not deleted before the bind is decided.
  const rows =
    names.length === 0
      ? []
      : await db.$queryRaw<Reservation[]>`
          SELECT id, account_id AS "accountId", domain FROM reserved_domain WHERE domain = ANY(${names}) FOR SHARE`;
  const byName = new Map(rows.map((row) => [row.domain, row]));
  return wanted.map((name) => reservationOf(name, byName, settings));
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

function reservationOf(
  { accountId, hostname }: WantedName,
  byName: ReadonlyMap<string, Reservation>,
  { baseDomain, cnameDomain, acmeDomain }: RegistrarSettings,
): { domainId: string | null } | AgentRefusal {
  if (hostname === null || isInternalName(hostname)) return { domainId: null };
  const isOthers = (name: string) => (byName.get(name)?.accountId ?? accountId) !== accountId;
  if (namesCovering(hostname, baseDomain).some(isOthers)) return { refused: 'reservedByOther', target: hostname };
  const own = ownNames(hostname);
  const covering = nearest(
    own.flatMap((name) => byName.get(name) ?? []).filter((row) => row.accountId === accountId),
    own,
  );
  const root = withoutWildcard(hostname);
  const isFree =
    !hostname.startsWith('*.') &&
    root !== baseDomain &&
    isWithin(root, baseDomain) &&
    ![cnameDomain, acmeDomain].some((zone) => isWithin(root, zone) && !isWithin(baseDomain, zone));
  if (!covering && !isFree) return { refused: 'notReserved', target: hostname };
  return { domainId: covering?.id ?? null };
}
