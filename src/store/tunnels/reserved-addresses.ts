// Reservations of TCP addresses by accounts: ports that nobody else serves.

import type { AgentRefusal, BindRequest } from '../../tunnel/control/registrar.ts';
import { hasTcpPort } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import { freeClaims } from './claims.ts';

/** A TCP address that an account wants to serve. */
export interface WantedAddress {
  accountId: string;
  request: Pick<BindRequest, 'proto' | 'hostname' | 'port' | 'isGenerated'>;
}

/**
 * The reservations of TCP addresses, which stay until the end of the transaction.
 * @returns for each the id of the account's reservation (null where nobody has one, and for names), or why it is refused. A reserved
 * port is never one that the gateway chooses, as its owner may come back at any time.
 */
export async function addressReservationsOf(
  db: Db,
  wanted: readonly WantedAddress[],
): Promise<({ addressId: string | null } | AgentRefusal)[]> {
  const ports = wanted.flatMap(({ request }) => (hasTcpPort(request) ? [request.port] : []));
  const rows =
    ports.length === 0
      ? []
      : await db.$queryRaw<{ id: string; accountId: string; port: number }[]>`
          SELECT id, account_id AS "accountId", port FROM reserved_address WHERE port = ANY(${ports}) ORDER BY id FOR SHARE`;
  return wanted.map(({ accountId, request }) => {
    const { hostname, port, isGenerated } = request;
    const row = hasTcpPort(request) ? rows.find((one) => one.port === port) : undefined;
    const target = `${hostname}:${port}`;
    if (row && isGenerated) return { refused: 'inUse', target };
    if (row && row.accountId !== accountId) return { refused: 'addressReserved', target };
    return { addressId: row?.id ?? null };
  });
}

/**
 * The ports, of these, that cannot be reserved: somebody has reserved them, or another account serves them or had them a moment ago.
 * No agent gets another of them until the end of the transaction, in which they have to be reserved.
 */
export async function portsTaken(db: Db, accountId: string, ports: readonly number[]): Promise<Set<number>> {
  const addresses = ports.map((port) => `tcp:${port}`);
  // What is not there cannot be locked. The claims that are inserted are nobody's, and gone when this is over.
  const claims = await db.$queryRaw<{ address: string; accountId: string; credentialId: string }[]>`
    INSERT INTO claim (address, account_id, credential_id, pooling)
    SELECT address, ${accountId}, '', false FROM unnest(${addresses}::text[]) AS address ORDER BY address
    ON CONFLICT (address) DO UPDATE SET address = EXCLUDED.address
    RETURNING address, account_id AS "accountId", credential_id AS "credentialId"`;
  const fresh = claims.filter(({ credentialId }) => credentialId === '').map(({ address }) => address);
  await freeClaims(db, fresh);
  const reserved = await db.reservedAddress.findMany({ where: { port: { in: [...ports] } }, select: { port: true } });
  const others = claims.filter((claim) => claim.accountId !== accountId);
  return new Set([...reserved.map(({ port }) => port), ...others.map(({ address }) => Number(address.slice(4)))]);
}

/** Follows a change of the base domain, which all addresses have. It is called at every start. */
export async function renameAddresses(db: Db, baseDomain: string): Promise<void> {
  await db.$executeRaw`
    UPDATE reserved_address SET addr = ${baseDomain} || ':' || port WHERE addr <> ${baseDomain} || ':' || port`;
  await db.$executeRaw`
    UPDATE edge_hostport h SET hostport = a.addr FROM reserved_address a WHERE a.id = h.address_id AND h.hostport <> a.addr`;
  await db.$executeRaw`
    UPDATE cloud_url SET hostname = ${baseDomain} WHERE address_id IS NOT NULL AND hostname <> ${baseDomain}`;
}
