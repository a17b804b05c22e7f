// Decides and registers binds in one transaction, so that only one of two agents that want the same address gets it.

import { allows } from '../../tunnel/control/acl.ts';
import type { AgentRefusal, BindRequest } from '../../tunnel/control/registrar.ts';
import type { ServingSession } from '../../tunnel/control/session-commands.ts';
import { endpointAddress, hasTcpPort } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import { endpointOfflineEvents, endpointOnlineEvent } from '../events/live-events.ts';
import { endpointObjects } from '../events/live-objects.ts';
import { findSubscriptions, writeAudit } from '../events/outbox.ts';
import { newId } from '../ids.ts';
import { joinsTunnel, mayTakeOver, rivalsOf, type ServingTunnel, tunnelsAt } from './address-takeover.ts';
import { batched } from './batched.ts';
import { type BindContext, inBindTransaction, loadBindContexts, requestedBind } from './bind-transaction.ts';
import { takeNames } from './bindable-names.ts';
import { type Claim, takeClaims } from './claims.ts';
import { NODE_LOST } from './delete-node.ts';
import { announceEnd } from './end-session.ts';
import { type AcceptedTunnel, insertTunnels, type NewTunnel } from './insert-tunnels.ts';
import { announceOnlineAgain, deleteTunnels, recordOffline } from './offline-endpoints.ts';
import type { Announce, RegistrarDeps } from './registrar-deps.ts';
import { addressReservationsOf } from './reserved-addresses.ts';
import { TCP_PORT_KIND } from './route-lookup.ts';
import { announceUpdate } from './tunnel-legs.ts';

/** HTTPS and TLS edges answer on this port alone. */
const EDGE_PORT = 443;

export interface BindResult {
  tunnelId: string;
  endpointId: string;
  /** Sessions that had the tunnel before. Their agents have reconnected elsewhere. */
  supersededSessions: string[];
}

/** A request that has not been refused so far. */
interface Candidate extends Omit<NewTunnel, 'domainId' | 'addressId'> {
  holder: BindContext;
  /** The index of the request in the batch. */
  index: number;
}

type Answer = BindResult | AgentRefusal;

/** The refusals, by index in the list of requests. */
interface RefusedBatch {
  refused: Map<number, AgentRefusal>;
}

/**
 * Returns the function that decides binds. A batch takes at most eight statements when no subscription gets events, and three more where
 * a site was another account's before; it takes twice as many when some of the batch are refused.
 */
export function createBind(deps: RegistrarDeps): (request: BindRequest) => Promise<Answer> {
  return batched({
    keysOf: (request) => [endpointAddress({ accountId: '', ...request }), ...(request.resume ? [request.resume] : [])],
    work: (requests) => decideAll(deps, requests),
  });
}

/** Refused requests leave nothing behind: the transaction that refuses them is rolled back and repeated without them. */
async function decideAll(deps: RegistrarDeps, requests: readonly BindRequest[]): Promise<Answer[]> {
  const refusals = new Map<BindRequest, AgentRefusal>();
  for (;;) {
    const left = requests.filter((request) => !refusals.has(request));
    const bound =
      left.length === 0 ? [] : await inBindTransaction(deps, (db, announce) => decide(deps, db, announce, left));
    if (Array.isArray(bound)) {
      const answers = new Map<BindRequest, Answer>(refusals);
      left.forEach((request, i) => void answers.set(request, bound[i] as Answer));
      return requests.map((request) => answers.get(request) as Answer);
    }
    for (const [index, refusal] of bound.refused) refusals.set(left[index] as BindRequest, refusal);
  }
}

async function decide(
  deps: RegistrarDeps,
  db: Db,
  announce: Announce,
  requests: readonly BindRequest[],
): Promise<Answer[] | RefusedBatch> {
  const { node, settings } = deps;
  const answers: Answer[] = [];
  const requested = requests.map((request) => requestedBind(request, hostportOf(request)));
  const contexts = await loadBindContexts(db, requested, node.id);
  const allowed: Candidate[] = [];
  requests.forEach((request, index) => {
    const holder = contexts[index];
    const denial = holder ? denialOf(request, holder) : ({ refused: 'sessionEnded' } as const);
    if (denial) answers[index] = denial;
    else if (holder) allowed.push(candidateOf(request, holder, index));
  });
  const accepted: (Candidate & AcceptedTunnel)[] = [];
  const wanted = allowed.map(({ request, holder: { accountId } }) => ({
    accountId,
    hostname: hasTcpPort(request) ? null : request.hostname,
  }));
  const domains = await takeNames(db, wanted, { settings, nodeId: node.id });
  const addresses = await addressReservationsOf(db, allowed.map(wantedAddressOf));
  allowed.forEach((candidate, i) => {
    const { holder, index, request } = candidate;
    const domain = domains[i] as (typeof domains)[number];
    const address = addresses[i] as (typeof addresses)[number];
    if ('refused' in domain) answers[index] = domain;
    else if ('refused' in address) answers[index] = address;
    else if (holder.isOnEdge) answers[index] = { refused: 'onEdge', target: targetOf(request) };
    else accepted.push({ ...candidate, ...domain, ...address, joins: false });
  });
  if (accepted.length === 0) return answers;

  const claims = await takeClaims(
    db,
    accepted.map(({ address, holder }) => ({ address, holder })),
  );
  const served = await tunnelsAt(
    db,
    accepted.map(({ address }) => address),
    node.id,
    settings.sessionHold,
  );
  const refused = new Map<number, AgentRefusal>();
  /** Tunnels that end because their address goes to another one, with the account of the new tunnel. */
  const replaced: (ServingTunnel & { newAccountId: string })[] = [];
  for (const candidate of accepted) {
    const { request, holder, address, index } = candidate;
    const before = served.filter((tunnel) => tunnel.address === address);
    candidate.joins = before.some((tunnel) => joinsTunnel(request, holder, tunnel));
    if (!mayTakeOver(request, holder, claims.get(address) as Claim, before)) {
      const rivals = await servingSessions(db, rivalsOf(request, holder, before));
      refused.set(index, { refused: 'inUse', target: targetOf(request), ...(rivals.length > 0 && { rivals }) });
    }
    for (const tunnel of before) {
      const isReplaced = tunnel.id === request.resume ? !candidate.joins : !tunnel.isLive;
      if (isReplaced) replaced.push({ ...tunnel, newAccountId: holder.accountId });
    }
  }
  if (refused.size > 0) return { refused };
  const audit = { db, announce, baseUrl: deps.baseUrl() };
  const accountIds = [...accepted.map(({ holder }) => holder.accountId), ...served.map((tunnel) => tunnel.accountId)];
  const subscriptions = await findSubscriptions(db, accountIds, ['endpoint_online.v0', 'endpoint_offline.v0']);
  const events = await endpointOfflineEvents(
    audit,
    replaced.map((tunnel) => tunnel.endpointId),
    subscriptions,
  );
  if (replaced.length > 0) {
    // Within one account the address does not go offline.
    const endpointIds = replaced
      .filter(({ accountId, newAccountId }) => accountId !== newAccountId)
      .map(({ endpointId: id }) => id);
    await recordOffline(audit, {
      endpointIds,
      reason: NODE_LOST,
      deletion: deleteTunnels(replaced.map(({ id }) => id)),
    });
  }
  for (const tunnel of replaced) announceEnd(announce, tunnel, tunnel.accountId);

  const { live, onlineAgain } = await insertTunnels(db, deps, accepted);
  const lost = accepted.filter(({ endpointId }) => !live.has(endpointId));
  if (lost.length > 0) return { refused: await refusalsOfLost(db, lost, node.id) };
  announceOnlineAgain(announce, onlineAgain);
  for (const { holder, tunnelId, endpointId, request, address, index, joins } of accepted) {
    const { accountId } = holder;
    if (joins) announceUpdate(announce, { id: tunnelId, endpointId, accountId });
    else {
      announce({ kind: 'tunnel', action: 'CREATED', id: tunnelId, accountId });
      announce({ kind: 'endpoint', action: 'CREATED', id: endpointId, accountId });
    }
    if (hasTcpPort(request)) announce({ kind: TCP_PORT_KIND, action: 'CREATED', id: String(request.port), accountId });
    const supersededSessions = replaced
      .filter((tunnel) => tunnel.address === address)
      .flatMap(({ sessionId, legs }) => [sessionId, ...legs]);
    answers[index] = {
      tunnelId,
      endpointId,
      supersededSessions: supersededSessions.filter((id) => id !== request.sessionId),
    };
  }
  if (subscriptions.hasSubscribers('endpoint_online.v0')) {
    const online = accepted.filter(({ joins }) => !joins).map(({ endpointId }) => endpointId);
    events.push(...(await endpointObjects(db, online, audit.baseUrl)).map(endpointOnlineEvent));
  }
  await writeAudit(audit, events, subscriptions);
  return answers;
}

/** Why accepted requests were not inserted: an edge, a cloud endpoint or a reservation got the address before the claim was locked, or the session ended. */
async function refusalsOfLost(db: Db, lost: readonly Candidate[], nodeId: string): Promise<Map<number, AgentRefusal>> {
  const requested = lost.map(({ request, hostport }) => requestedBind(request, hostport));
  const contexts = await loadBindContexts(db, requested, nodeId);
  const reservations = await addressReservationsOf(db, lost.map(wantedAddressOf));
  const why = ({ request }: Candidate, i: number): AgentRefusal => {
    const reservation = reservations[i];
    if (reservation && 'refused' in reservation) return reservation;
    return contexts[i]?.isOnEdge ? { refused: 'onEdge', target: targetOf(request) } : { refused: 'sessionEnded' };
  };
  return new Map(lost.map((candidate, i) => [candidate.index, why(candidate, i)]));
}

/** The sessions that there are of these, and where. */
async function servingSessions(db: Db, ids: string[]): Promise<ServingSession[]> {
  if (ids.length === 0) return [];
  const select = { id: true, node: { select: { id: true, address: true } } };
  const sessions = await db.tunnelSession.findMany({ where: { id: { in: ids } }, select });
  return sessions.map(({ id, node }) => ({ sessionId: id, node }));
}

function candidateOf(request: BindRequest, context: BindContext, index: number): Candidate {
  const tunnelId = request.resume ?? newId('tn');
  return {
    request,
    holder: context,
    index,
    address: endpointAddress({ accountId: context.accountId, ...request }),
    tunnelId,
    endpointId: tunnelId.replace('tn_', 'ep_'), // A tunnel and its endpoint share what follows the prefix.
    hostport: hostportOf(request),
  };
}

function denialOf(request: BindRequest, { acl }: BindContext): AgentRefusal | undefined {
  const { hostname, port, isGenerated } = request;
  const target = targetOf(request);
  if (!hasTcpPort(request))
    return allows(acl, { type: 'domain', domain: hostname }) ? undefined : { refused: 'nameDenied', target };
  if (allows(acl, { type: 'address', host: hostname, port: isGenerated ? null : port })) return undefined;
  return { refused: isGenerated ? 'anyPortDenied' : 'addressDenied', target };
}

function targetOf({ proto, hostname, port }: BindRequest): string {
  return proto === 'tcp' ? `${hostname}:${port}` : hostname;
}

/** The hostport that an edge would have. */
function hostportOf({ proto, hostname, port }: BindRequest): string {
  return `${hostname}:${proto === 'tcp' ? port : EDGE_PORT}`;
}

const wantedAddressOf = ({ request, holder: { accountId } }: Candidate) => ({ accountId, request });
