// The rows of a tunnel that has an address.

import type { Address } from '../../tunnel/endpoints.ts';
import type { BindRequest } from '../../tunnel/registrar.ts';
import type { Db } from '../client.ts';
import type { Holder } from './claims.ts';
import type { LiveParts } from './parts.ts';

interface Opening {
  standing: Holder;
  address: Address;
  tunnelId: string;
  endpointId: string;
  domainId: string | null;
  /** What an edge would have in place of the address; '' for none. */
  hostport: string;
}

export interface Opened {
  /** Whether the session was still there, and no edge had come to the name. */
  isOpen: boolean;
  /** What was known of the address while it was offline. */
  backId: string | null;
}

/**
 * Writes the claim, which is locked, the tunnel and the endpoint, and forgets that the address was offline: in one
 * statement, as agents that come back after an outage bind by the thousand.
 */
export async function open(
  db: Db,
  { node, settings }: LiveParts,
  { sessionId, proto, hostname, port, publicUrl, pooling, forwardsTo, metadata }: BindRequest,
  { standing, address, tunnelId, endpointId, domainId, hostport: ofEdge }: Opening,
): Promise<Opened> {
  const { accountId, credentialId } = standing;
  const { region } = settings;
  const [opened] = await db.$queryRaw<[Opened]>`
    WITH taken AS (
      UPDATE claim SET account_id = ${accountId}, credential_id = ${credentialId}, pooling = ${pooling},
        held_until = NULL WHERE address = ${address}
    ), session AS (
      SELECT id FROM tunnel_session WHERE id = ${sessionId}
        AND NOT EXISTS (SELECT 1 FROM edge_hostport WHERE hostport = ${ofEdge}) FOR SHARE
    ), opened AS (
      INSERT INTO tunnel (id, account_id, session_id, proto, public_url, forwards_to, metadata, region)
      SELECT ${tunnelId}, ${accountId}, id, ${proto}, ${publicUrl}, ${forwardsTo}, ${metadata}, ${region} FROM session
      RETURNING id
    ), live AS (
      INSERT INTO endpoint (id, account_id, node_id, type, proto, public_url, hostport, address, metadata, region,
        domain_id, tunnel_id)
      SELECT ${endpointId}, ${accountId}, ${node.id}, 'EPHEMERAL', ${proto}, ${publicUrl}, ${`${hostname}:${port}`},
        ${address}, ${metadata}, ${region}, ${domainId}, id FROM opened
      RETURNING id
    ), back AS (
      DELETE FROM offline_endpoint WHERE account_id = ${accountId} AND address = ${address}
        AND EXISTS (SELECT 1 FROM opened) RETURNING id
    )
    SELECT EXISTS (SELECT 1 FROM live) AS "isOpen", (SELECT id FROM back) AS "backId"`;
  return opened;
}
