// Whether an account may serve a name: its own reservations, those of others, and the gateway's own names.

import { isInternal } from '../../tunnel/endpoints.ts';
import type { BindRequest, Refusal } from '../../tunnel/registrar.ts';
import type { Db } from '../client.ts';
import { isWithin, namesServing, rootOf } from '../names.ts';
import { freezeReservations, namesHolding, nearest } from '../reservations.ts';
import type { LiveSettings } from './parts.ts';

interface Reservation {
  id: string;
  accountId: string;
  domain: string;
}

/** To be called first in a transaction that binds: a name without a reservation must not be reserved meanwhile. */
export async function freezeName(
  db: Db,
  { hostname, chosen }: BindRequest,
  { baseDomain }: LiveSettings,
): Promise<void> {
  // A random name is nobody's wish, and what must be reserved has a row of its own to lock.
  if (!chosen && isWithin(hostname, baseDomain)) await freezeReservations(db);
}

/** @returns the account's reservation that covers the name, if it needs none perhaps null; or why it is refused. */
export async function reservationOf(
  db: Db,
  accountId: string,
  hostname: string,
  { baseDomain, cnameDomain, acmeDomain }: LiveSettings,
): Promise<{ domainId: string | null } | Refusal> {
  if (isInternal(hostname)) return { domainId: null }; // Each account has its own.
  const isWildcard = hostname.startsWith('*.');
  const own = isWildcard ? [hostname] : namesServing(hostname);
  const held = namesHolding(hostname, baseDomain);
  const names = [...new Set([...own, ...held])];
  // A reservation cannot be given up before the bind is decided.
  const rows = await db.$queryRaw<Reservation[]>`
    SELECT id, account_id AS "accountId", domain FROM reserved_domain WHERE domain = ANY(${names}) FOR SHARE`;
  if (rows.some((row) => row.accountId !== accountId && held.includes(row.domain)))
    return { refused: 'reservedByOther', target: hostname };
  const covering = nearest(
    rows.filter((row) => row.accountId === accountId),
    own,
  );
  const root = rootOf(hostname);
  const isFree =
    !isWildcard &&
    root !== baseDomain &&
    isWithin(root, baseDomain) &&
    ![cnameDomain, acmeDomain].some((zone) => isWithin(root, zone) && !isWithin(baseDomain, zone));
  if (!covering && !isFree) return { refused: 'notReserved', target: hostname };
  return { domainId: covering?.id ?? null };
}
