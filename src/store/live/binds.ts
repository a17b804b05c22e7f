// Binds: decided and registered in one transaction, so that of two who want the same address one gets it.

import { allows } from '../../tunnel/acl.ts';
import { addressOf } from '../../tunnel/endpoints.ts';
import type { BindRequest, LabelBindRequest, Refusal } from '../../tunnel/registrar.ts';
import type { Db } from '../client.ts';
import { offline, online } from '../events/live-events.ts';
import { endpointObjects } from '../events/live-objects.ts';
import { audience, writeAudit } from '../events/outbox.ts';
import { newId } from '../ids.ts';
import { lockClaim } from './claims.ts';
import { deciding, standingOf } from './deciding.ts';
import { announceEnd } from './ending.ts';
import { NODE_LOST } from './forgetting.ts';
import { announceBack, goOffline, tunnelsGo } from './going-offline.ts';
import { freezeName, reservationOf } from './names.ts';
import { open } from './opening.ts';
import type { Announce, LiveParts } from './parts.ts';
import { mayTake, tunnelsAt } from './taking.ts';

/** Edges answer on this port alone. */
const EDGE_PORT = 443;

export interface Bound {
  tunnelId: string;
  endpointId: string;
  /** Sessions that had the tunnel before: their agents are elsewhere. */
  ghosts: string[];
}

/** Takes at most nine statements where nobody hears of events, of which one is for names that are asked for below the base domain. */
export function bind(parts: LiveParts, request: BindRequest): Promise<Bound | Refusal> {
  return deciding(parts, (db, announce) => decide(parts, db, announce, request));
}

async function decide(parts: LiveParts, db: Db, announce: Announce, request: BindRequest): Promise<Bound | Refusal> {
  const { node, settings } = parts;
  const { sessionId, proto, hostname, port, resume } = request;
  const isName = proto !== 'tcp';
  const target = isName ? hostname : `${hostname}:${port}`;
  if (isName) await freezeName(db, request, settings);
  const ofEdge = isName ? `${hostname}:${EDGE_PORT}` : '';
  const standing = await standingOf(db, sessionId, node.id, ofEdge);
  if (!standing) return { refused: 'sessionEnded' };
  const { accountId, acl } = standing;
  if (isName && !allows(acl, { type: 'domain', domain: hostname })) return { refused: 'nameDenied', target };
  if (!isName && !allows(acl, { type: 'address', host: hostname, port: request.chosen ? null : port }))
    return { refused: request.chosen ? 'anyPortDenied' : 'addressDenied', target };
  const reservation = isName ? await reservationOf(db, accountId, hostname, settings) : { domainId: null };
  if ('refused' in reservation) return reservation;
  if (standing.isOnEdge) return { refused: 'onEdge', target };

  const address = addressOf({ accountId, ...request });
  const claim = await lockClaim(db, address, standing);
  const before = await tunnelsAt(db, address, node.id, settings.sessionHold);
  if (!mayTake(request, standing, claim, before)) return { refused: 'inUse', target };
  const telling = { db, announce, baseUrl: parts.baseUrl() };
  const accountIds = [accountId, ...before.map((tunnel) => tunnel.accountId)];
  const heardBy = await audience(db, accountIds, ['endpoint_online.v0', 'endpoint_offline.v0']);
  const over = before.filter(({ id, isLive }) => !isLive || id === resume);
  const events = await offline(
    telling,
    over.map((tunnel) => tunnel.endpointId),
    heardBy,
  );
  if (over.length > 0) {
    // For the account itself the address is back at once.
    const endpointIds = over.filter((tunnel) => tunnel.accountId !== accountId).map(({ endpointId: id }) => id);
    await goOffline(telling, { endpointIds, reason: NODE_LOST, deletion: tunnelsGo(over.map(({ id }) => id)) });
  }
  for (const tunnel of over) announceEnd(announce, tunnel, tunnel.accountId);

  const tunnelId = resume ?? newId('tn');
  const endpointId = tunnelId.replace('tn_', 'ep_'); // A tunnel and its endpoint share what follows the prefix.
  const { domainId } = reservation;
  const opening = { standing, address, tunnelId, endpointId, domainId, hostport: ofEdge };
  const { isOpen, backId } = await open(db, parts, request, opening);
  if (!isOpen) {
    // An edge may have got the name before this got the claim.
    const now = await standingOf(db, sessionId, node.id, ofEdge);
    return now?.isOnEdge ? { refused: 'onEdge', target } : { refused: 'sessionEnded' };
  }
  if (backId !== null) announceBack(announce, [{ id: backId, accountId }]);
  announce({ kind: 'tunnel', action: 'CREATED', id: tunnelId, accountId });
  announce({ kind: 'endpoint', action: 'CREATED', id: endpointId, accountId });
  if (heardBy.hears('endpoint_online.v0'))
    events.push(...(await endpointObjects(db, [endpointId], telling.baseUrl)).map(online));
  await writeAudit(telling, events, heardBy);
  return { tunnelId, endpointId, ghosts: over.map((tunnel) => tunnel.sessionId).filter((id) => id !== sessionId) };
}

/** Registers a tunnel without an address. */
export function bindLabels(
  parts: LiveParts,
  { sessionId, labels, forwardsTo, metadata }: LabelBindRequest,
): Promise<{ tunnelId: string } | Refusal> {
  return deciding(parts, async (db, announce) => {
    const standing = await standingOf(db, sessionId, parts.node.id, '');
    if (!standing) return { refused: 'sessionEnded' };
    const { accountId, acl } = standing;
    const denied = Object.entries(labels).find(([key, value]) => !allows(acl, { type: 'label', key, value }));
    if (denied) return { refused: 'labelDenied', target: denied.join('=') };
    const tunnelId = newId('tn');
    const { region } = parts.settings;
    await db.tunnel.create({
      data: { id: tunnelId, accountId, sessionId, labels, forwardsTo, metadata, region },
      select: { id: true },
    });
    announce({ kind: 'tunnel', action: 'CREATED', id: tunnelId, accountId });
    return { tunnelId };
  });
}
