// Decides whether a bind gets an address that others serve or hold.

import type { BindRequest } from '../../tunnel/control/registrar.ts';
import type { EndpointAddress } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import type { Claim, Holder } from './claims.ts';

/** A tunnel that serves the address. */
export interface ServingTunnel {
  id: string;
  address: string;
  endpointId: string;
  sessionId: string;
  accountId: string;
  /** Null when its credential was deleted. */
  credentialId: string | null;
  /** Whether the lease of its node is valid. This node always counts as valid, so that nothing it serves is taken over. */
  isLive: boolean;
  /** Whether the lease of its node ended so recently that the address is still held for the agent. */
  isKept: boolean;
}

/** The tunnels at these addresses. Their claims must be locked. */
export function tunnelsAt(
  db: Db,
  addresses: readonly EndpointAddress[],
  nodeId: string,
  holdMs: number,
): Promise<ServingTunnel[]> {
  return db.$queryRaw<ServingTunnel[]>`
    SELECT t.id, e.address, e.id AS "endpointId", t.session_id AS "sessionId", t.account_id AS "accountId",
      s.credential_id AS "credentialId", n.id = ${nodeId} OR n.lease_until > now() AS "isLive",
      n.lease_until + ${holdMs} * interval '1 millisecond' > now() AS "isKept"
    FROM endpoint e JOIN tunnel t ON t.id = e.tunnel_id
    JOIN tunnel_session s ON s.id = t.session_id JOIN node n ON n.id = s.node_id
    WHERE e.address = ANY(${addresses})`;
}

/**
 * Whether a bind gets the address. A resumed tunnel belongs to the agent itself, whichever node serves it now, so it does not
 * block the bind; nor does its hold, because the agent may have a new authtoken.
 */
export function mayTakeOver(
  { resume, pooling }: BindRequest,
  own: Holder,
  claim: Claim,
  served: ServingTunnel[],
): boolean {
  const isShared = (accountId: string) => pooling && claim.pooling && accountId === own.accountId;
  const isOwn = (accountId: string, credentialId: string | null) =>
    credentialId === own.credentialId || (accountId === own.accountId && (resume !== null || isShared(accountId)));
  if (claim.isHeld && !isOwn(claim.accountId, claim.credentialId)) return false;
  return served
    .filter(({ id }) => id !== resume)
    .every(({ isLive, isKept, accountId, credentialId }) =>
      isLive ? isShared(accountId) : !isKept || isOwn(accountId, credentialId),
    );
}
