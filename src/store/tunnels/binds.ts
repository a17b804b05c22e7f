// Binds: decided and registered in one transaction, so that of two who want the same address one gets it.

import { allows } from '../../tunnel/control/acl.ts';
import type { AgentRefusal, BindRequest, LabelBindRequest } from '../../tunnel/control/registrar.ts';
import { endpointAddress } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import { endpointOfflineEvents, endpointOnlineEvent } from '../events/live-events.ts';
import { endpointObjects } from '../events/live-objects.ts';
import { findSubscriptions, writeAudit } from '../events/outbox.ts';
import { newId } from '../ids.ts';
import { mayTakeOver, type ServingTunnel, tunnelsAt } from './address-takeover.ts';
import { batched } from './batches.ts';
import { type BindContext, inBindTransaction, loadBindContexts } from './bind-transaction.ts';
import { freezeNames, reservationsOf } from './bindable-names.ts';
import { type Claim, takeClaims } from './claims.ts';
import { NODE_LOST } from './delete-node.ts';
import { announceEnd } from './end-session.ts';
import { insertTunnels, type NewTunnel } from './insert-tunnels.ts';
import { announceOnlineAgain, deleteTunnels, recordOffline } from './offline-endpoints.ts';
import type { Announce, RegistrarDeps } from './registrar-deps.ts';

/** Edges answer on this port alone. */
const EDGE_PORT = 443;

export interface Bound {
  tunnelId: string;
  endpointId: string;
  /** Sessions that had the tunnel before: their agents are elsewhere. */
  supersededSessions: string[];
}

/** A request that nothing speaks against so far. */
interface Candidate extends Omit<NewTunnel, 'domainId'> {
  standing: BindContext;
  /** Which of the requests. */
  place: number;
}

type Answer = Bound | AgentRefusal;

/** What is refused, by its place among the requests. */
interface Refused {
  refused: Map<number, AgentRefusal>;
}

/**
 * Decides binds. A batch takes at most nine statements where nobody hears of events, of which one is for names that are asked
 * for below the base domain; twice as many where some of it are refused.
 */
export function createBind(parts: RegistrarDeps): (request: BindRequest) => Promise<Answer> {
  return batched({
    keysOf: (request) => [endpointAddress({ accountId: '', ...request }), ...(request.resume ? [request.resume] : [])],
    work: (requests) => decideAll(parts, requests),
  });
}

/** Those that are refused leave nothing behind, as the transaction in which that was seen is rolled back. */
async function decideAll(parts: RegistrarDeps, requests: readonly BindRequest[]): Promise<Answer[]> {
  const refusals = new Map<BindRequest, AgentRefusal>();
  for (;;) {
    const left = requests.filter((request) => !refusals.has(request));
    const bound =
      left.length === 0 ? [] : await inBindTransaction(parts, (db, announce) => decide(parts, db, announce, left));
    if (Array.isArray(bound)) {
      const answers = new Map<BindRequest, Answer>(refusals);
      left.forEach((request, i) => void answers.set(request, bound[i] as Answer));
      return requests.map((request) => answers.get(request) as Answer);
    }
    for (const [place, refusal] of bound.refused) refusals.set(left[place] as BindRequest, refusal);
  }
}

async function decide(
  parts: RegistrarDeps,
  db: Db,
  announce: Announce,
  requests: readonly BindRequest[],
): Promise<Answer[] | Refused> {
  const { node, settings } = parts;
  const answers: Answer[] = [];
  const names = requests.filter(({ proto }) => proto !== 'tcp');
  await freezeNames(db, names, settings);
  const wants = requests.map((request) => ({ sessionId: request.sessionId, hostport: hostportOf(request) }));
  const standings = await loadBindContexts(db, wants, node.id);
  const allowed: Candidate[] = [];
  requests.forEach((request, place) => {
    const standing = standings[place];
    const denial = standing ? denialOf(request, standing) : ({ refused: 'sessionEnded' } as const);
    if (denial) answers[place] = denial;
    else if (standing) allowed.push(candidateOf(request, standing, place));
  });
  const openings: (Candidate & NewTunnel)[] = [];
  const wanted = allowed.map(({ request, standing: { accountId } }) => ({
    accountId,
    hostname: request.proto === 'tcp' ? null : request.hostname,
  }));
  const reservations = await reservationsOf(db, wanted, settings);
  allowed.forEach((candidate, i) => {
    const { standing, place, request } = candidate;
    const reservation = reservations[i] as (typeof reservations)[number];
    if ('refused' in reservation) answers[place] = reservation;
    else if (standing.isOnEdge) answers[place] = { refused: 'onEdge', target: targetOf(request) };
    else openings.push({ ...candidate, domainId: reservation.domainId });
  });
  if (openings.length === 0) return answers;

  const claims = await takeClaims(
    db,
    openings.map(({ address, standing }) => ({ address, holder: standing })),
  );
  const addresses = openings.map(({ address }) => address);
  const served = await tunnelsAt(db, addresses, node.id, settings.sessionHold);
  const refused = new Map<number, AgentRefusal>();
  /** What ends because somebody else has its address now: with the account of who that is. */
  const over: (ServingTunnel & { by: string })[] = [];
  for (const { request, standing, address, place } of openings) {
    const before = served.filter((tunnel) => tunnel.address === address);
    if (!mayTakeOver(request, standing, claims.get(address) as Claim, before))
      refused.set(place, { refused: 'inUse', target: targetOf(request) });
    for (const tunnel of before)
      if (!tunnel.isLive || tunnel.id === request.resume) over.push({ ...tunnel, by: standing.accountId });
  }
  if (refused.size > 0) return { refused };
  const audit = { db, announce, baseUrl: parts.baseUrl() };
  const accountIds = [
    ...openings.map(({ standing }) => standing.accountId),
    ...served.map((tunnel) => tunnel.accountId),
  ];
  const heardBy = await findSubscriptions(db, accountIds, ['endpoint_online.v0', 'endpoint_offline.v0']);
  const events = await endpointOfflineEvents(
    audit,
    over.map((tunnel) => tunnel.endpointId),
    heardBy,
  );
  if (over.length > 0) {
    // For the account itself the address is back at once.
    const endpointIds = over.filter(({ accountId, by }) => accountId !== by).map(({ endpointId: id }) => id);
    await recordOffline(audit, { endpointIds, reason: NODE_LOST, deletion: deleteTunnels(over.map(({ id }) => id)) });
  }
  for (const tunnel of over) announceEnd(announce, tunnel, tunnel.accountId);

  const { live, back } = await insertTunnels(db, parts, openings);
  const late = openings.filter(({ endpointId }) => !live.has(endpointId));
  if (late.length > 0) return { refused: await whyLate(db, late, node.id) };
  announceOnlineAgain(announce, back);
  for (const { standing, tunnelId, endpointId, request, address, place } of openings) {
    const { accountId } = standing;
    announce({ kind: 'tunnel', action: 'CREATED', id: tunnelId, accountId });
    announce({ kind: 'endpoint', action: 'CREATED', id: endpointId, accountId });
    const supersededSessions = over.filter((tunnel) => tunnel.address === address).map(({ sessionId }) => sessionId);
    answers[place] = {
      tunnelId,
      endpointId,
      supersededSessions: supersededSessions.filter((id) => id !== request.sessionId),
    };
  }
  if (heardBy.hasSubscribers('endpoint_online.v0'))
    events.push(...(await endpointObjects(db, [...live], audit.baseUrl)).map(endpointOnlineEvent));
  await writeAudit(audit, events, heardBy);
  return answers;
}

/** An edge may have got the name before this got the claim, or the session ended. */
async function whyLate(db: Db, late: readonly Candidate[], nodeId: string): Promise<Map<number, AgentRefusal>> {
  const wants = late.map(({ request, hostport }) => ({ sessionId: request.sessionId, hostport }));
  const standings = await loadBindContexts(db, wants, nodeId);
  const why = ({ request }: Candidate, i: number): AgentRefusal =>
    standings[i]?.isOnEdge ? { refused: 'onEdge', target: targetOf(request) } : { refused: 'sessionEnded' };
  return new Map(late.map((candidate, i) => [candidate.place, why(candidate, i)]));
}

function candidateOf(request: BindRequest, standing: BindContext, place: number): Candidate {
  const tunnelId = request.resume ?? newId('tn');
  return {
    request,
    standing,
    place,
    address: endpointAddress({ accountId: standing.accountId, ...request }),
    tunnelId,
    endpointId: tunnelId.replace('tn_', 'ep_'), // A tunnel and its endpoint share what follows the prefix.
    hostport: hostportOf(request),
  };
}

function denialOf(request: BindRequest, { acl }: BindContext): AgentRefusal | undefined {
  const { proto, hostname, port, isGenerated } = request;
  const target = targetOf(request);
  if (proto !== 'tcp')
    return allows(acl, { type: 'domain', domain: hostname }) ? undefined : { refused: 'nameDenied', target };
  if (allows(acl, { type: 'address', host: hostname, port: isGenerated ? null : port })) return undefined;
  return { refused: isGenerated ? 'anyPortDenied' : 'addressDenied', target };
}

function targetOf({ proto, hostname, port }: BindRequest): string {
  return proto === 'tcp' ? `${hostname}:${port}` : hostname;
}

/** What an edge would have in place of the address; '' for none. */
function hostportOf({ proto, hostname }: BindRequest): string {
  return proto === 'tcp' ? '' : `${hostname}:${EDGE_PORT}`;
}

/** Registers a tunnel without an address. */
export function bindLabels(
  parts: RegistrarDeps,
  { sessionId, labels, forwardsTo, metadata }: LabelBindRequest,
): Promise<{ tunnelId: string } | AgentRefusal> {
  return inBindTransaction(parts, async (db, announce): Promise<{ tunnelId: string } | AgentRefusal> => {
    const [standing] = await loadBindContexts(db, [{ sessionId, hostport: '' }], parts.node.id);
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
