// Claims: who serves an address, or for whom it is held. Every change to what is served at an address locks the row of its claim,
// so that the nodes make such changes one after the other. Locks are taken in this order: session, claims by address, tunnels.

import type { EndpointAddress } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import { toJsonRows } from '../database/json-rows.ts';
import { Prisma } from '../generated/prisma/client.ts';

export interface Claim {
  accountId: string;
  credentialId: string;
  pooling: boolean;
  /** Whether the address is held for a session that was lost. */
  isHeld: boolean;
}

export interface Holder {
  accountId: string;
  credentialId: string;
}

/** Locks the claims on addresses, and inserts one for its holder where there was none. @returns the claims by address. */
export async function takeClaims(
  db: Db,
  wanted: readonly { address: EndpointAddress; holder: Holder }[],
): Promise<Map<string, Claim>> {
  const rows = wanted.map(({ address, holder: { accountId, credentialId } }) => ({
    address,
    account_id: accountId,
    credential_id: credentialId,
  }));
  const claims = await db.$queryRaw<(Claim & { address: string })[]>`
    INSERT INTO claim (address, account_id, credential_id, pooling)
    SELECT address, account_id, credential_id, false
    FROM json_to_recordset(${toJsonRows(rows)}::json) AS w(address text, account_id text, credential_id text) ORDER BY address
    ON CONFLICT (address) DO UPDATE SET address = EXCLUDED.address
    RETURNING address, account_id AS "accountId", credential_id AS "credentialId", pooling,
      coalesce(held_until > now(), false) AS "isHeld"`;
  return new Map(claims.map((claim) => [claim.address, claim]));
}

export async function lockClaims(db: Db, addresses: string[]): Promise<void> {
  await db.$queryRaw`SELECT address FROM claim WHERE address = ANY(${addresses}) ORDER BY address FOR UPDATE`;
}

/** Deletes claims, which must be locked, unless other endpoints still serve their addresses. */
export async function freeClaims(db: Db, addresses: string[]): Promise<void> {
  await db.$executeRaw`
    DELETE FROM claim WHERE address = ANY(${addresses})
    AND NOT EXISTS (SELECT 1 FROM endpoint WHERE endpoint.address = claim.address)`;
}

/** Holds addresses for their holders for so many milliseconds, unless other endpoints still serve them. */
export async function holdClaims(
  db: Db,
  held: readonly { address: string; holder: Holder }[],
  holdMs: number,
): Promise<void> {
  const rows = held.map(({ address, holder: { accountId, credentialId } }) => ({
    address,
    account_id: accountId,
    credential_id: credentialId,
  }));
  await db.$executeRaw`
    UPDATE claim SET held_until = now() + ${holdMs} * interval '1 millisecond',
      account_id = w.account_id, credential_id = w.credential_id
    FROM json_to_recordset(${toJsonRows(rows)}::json) AS w(address text, account_id text, credential_id text)
    WHERE claim.address = w.address
    AND NOT EXISTS (SELECT 1 FROM endpoint WHERE endpoint.address = claim.address)`;
}

/** The addresses that sessions serve. */
const addressesOf = (sessionIds: string[]) => Prisma.sql`
  SELECT e.address FROM endpoint e JOIN tunnel t ON t.id = e.tunnel_id WHERE t.session_id = ANY(${sessionIds})`;

/** Locks the claims on all addresses that sessions serve. The sessions must be locked. */
export async function lockClaimsOf(db: Db, sessionIds: string[]): Promise<void> {
  await db.$queryRaw`
    SELECT address FROM claim WHERE address IN (${addressesOf(sessionIds)}) ORDER BY address FOR UPDATE`;
}

/** Holds the addresses that only these sessions serve, for their holders. The claims must be locked. */
export async function holdClaimsOf(db: Db, sessionIds: string[], holdMs: number): Promise<void> {
  await db.$executeRaw`
    UPDATE claim SET held_until = now() + ${holdMs} * interval '1 millisecond'
    WHERE held_until IS NULL AND address IN (${addressesOf(sessionIds)})
    AND NOT EXISTS (
      SELECT 1 FROM endpoint e JOIN tunnel t ON t.id = e.tunnel_id
      WHERE e.address = claim.address AND NOT t.session_id = ANY(${sessionIds}))`;
}

/** Deletes claims whose hold has ended. The column may be rounded up by a millisecond. */
export async function sweepClaims(db: Db): Promise<void> {
  await db.$executeRaw`DELETE FROM claim WHERE held_until <= now() + interval '1 millisecond'`;
}

/** The names, of these, that are served right now, and by what: see `servedAddresses`. */
export async function servedNames(
  db: Db,
  accountId: string,
  names: string[],
): Promise<Map<string, ServedAddress['by']>> {
  const addresses = names.flatMap((name): EndpointAddress[] => [`http:${name}`, `tls:${name}`]);
  const served = await servedAddresses(db, accountId, addresses);
  return new Map(served.map(({ address, by }) => [address.slice(address.indexOf(':') + 1), by]));
}

/** The TCP ports, of these, that are served right now, and by what: see `servedAddresses`. */
export async function servedPorts(
  db: Db,
  accountId: string,
  ports: number[],
): Promise<Map<number, ServedAddress['by']>> {
  const addresses = ports.map((port): EndpointAddress => `tcp:${port}`);
  const served = await servedAddresses(db, accountId, addresses);
  return new Map(served.map(({ address, by }) => [Number(address.slice('tcp:'.length)), by]));
}

/** What serves an address, besides whoever asks. */
export interface ServedAddress {
  address: EndpointAddress;
  by: 'agent' | 'cloud';
  accountId: string;
  proto: string;
  /** Whether it shares the address with others that do. */
  pooling: boolean;
}

/**
 * What agents and cloud endpoints serve of these addresses right now. Who wants them for an edge or a cloud endpoint asks. Nobody else
 * gets one of them until the end of the transaction, in which they have to be taken. Addresses that were kept for an agent are kept no
 * longer.
 * @param edgeId the row of the cloud endpoint that asks.
 */
export async function servedAddresses(
  db: Db,
  accountId: string,
  addresses: EndpointAddress[],
  edgeId = '',
): Promise<ServedAddress[]> {
  if (addresses.length === 0) return [];
  // What is not there cannot be locked. The claims are nobody's, and gone when this is over.
  await db.$executeRaw`
    INSERT INTO claim (address, account_id, credential_id, pooling)
    SELECT address, ${accountId}, '', false FROM unnest(${addresses}::text[]) AS address ORDER BY address
    ON CONFLICT (address) DO UPDATE SET address = EXCLUDED.address`;
  const served = await db.$queryRaw<ServedAddress[]>`
    SELECT e.address, 'agent' AS by, e.account_id AS "accountId", e.proto, coalesce(c.pooling, false) AS pooling
      FROM endpoint e JOIN node n ON n.id = e.node_id LEFT JOIN claim c ON c.address = e.address
      WHERE e.address = ANY(${addresses}) AND (n.lease_until > now() OR EXISTS (
        SELECT 1 FROM tunnel_leg l JOIN node ON node.id = l.node_id
        WHERE l.tunnel_id = e.tunnel_id AND node.lease_until > now()))
    UNION ALL SELECT address, 'cloud', account_id, proto, pooling FROM cloud_url
      WHERE address = ANY(${addresses}) AND edge_id <> ${edgeId}`;
  await freeClaims(db, addresses);
  return served;
}
