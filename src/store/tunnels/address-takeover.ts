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
  /** The other sessions of the agent that serve the tunnel. */
  legs: string[];
  accountId: string;
  /** The id of the agent. */
  clientId: string;
  /** Null when its credential was deleted. */
  credentialId: string | null;
  /** Whether the lease of a node that serves it is valid. This node always counts as valid, so that nothing it serves is taken over. */
  isLive: boolean;
  /** Whether that lease ended so recently that the address is still held for the agent. */
  isKept: boolean;
}

/** The sessions of the bind's own credential that are in its way, if nobody else is: where they are over, it gets the address. */
export function rivalsOf(
  { resume, sessionId }: Pick<BindRequest, 'resume' | 'sessionId'>,
  { credentialId }: Holder,
  served: readonly ServingTunnel[],
): string[] {
  const inTheWay = served.filter(({ id, isLive }) => isLive && id !== resume);
  if (!inTheWay.every((tunnel) => tunnel.credentialId === credentialId)) return [];
  const rivals = inTheWay.flatMap((tunnel) => [tunnel.sessionId, ...tunnel.legs]);
  return rivals.includes(sessionId) ? [] : rivals;
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
      s.client_id AS "clientId", s.credential_id AS "credentialId", coalesce(legs.ids, '{}') AS legs,
      n.id = ${nodeId} OR n.lease_until > now() OR coalesce(legs.is_live, false) AS "isLive",
      greatest(n.lease_until, legs.lease_until) + ${holdMs} * interval '1 millisecond' > now() AS "isKept"
    FROM endpoint e JOIN tunnel t ON t.id = e.tunnel_id
    JOIN tunnel_session s ON s.id = t.session_id JOIN node n ON n.id = s.node_id
    LEFT JOIN LATERAL (
      SELECT array_agg(l.session_id) AS ids, bool_or(n.id = ${nodeId} OR n.lease_until > now()) AS is_live,
        max(n.lease_until) AS lease_until
      FROM tunnel_leg l JOIN tunnel_session s ON s.id = l.session_id JOIN node n ON n.id = s.node_id
      WHERE l.tunnel_id = t.id
    ) AS legs ON true
    WHERE e.address = ANY(${addresses})`;
}

/**
 * Whether a bind adds a session to a tunnel of its own agent, so that both serve it. A bind in the tunnel's only session starts the
 * tunnel anew.
 */
export function joinsTunnel(
  { resume, sessionId }: Pick<BindRequest, 'resume' | 'sessionId'>,
  { accountId, clientId }: Pick<ServingTunnel, 'accountId' | 'clientId'>,
  tunnel: Pick<ServingTunnel, 'id' | 'accountId' | 'clientId' | 'sessionId' | 'legs'>,
): boolean {
  const isOwn = tunnel.accountId === accountId && tunnel.clientId === clientId;
  return tunnel.id === resume && isOwn && (tunnel.sessionId !== sessionId || tunnel.legs.length > 0);
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
