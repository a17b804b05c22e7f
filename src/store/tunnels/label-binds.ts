// Decides and registers binds of tunnels without an address, which edges select by their labels.

import { allows } from '../../tunnel/control/acl.ts';
import type { AgentRefusal, LabelBindRequest } from '../../tunnel/control/registrar.ts';
import type { Db } from '../database/client.ts';
import { newId } from '../ids.ts';
import { joinsTunnel } from './address-takeover.ts';
import { type BindContext, inBindTransaction, loadBindContexts } from './bind-transaction.ts';
import { announceEnd } from './end-session.ts';
import { deleteTunnels } from './offline-endpoints.ts';
import type { RegistrarDeps } from './registrar-deps.ts';
import { announceUpdate } from './tunnel-legs.ts';

export interface LabelBindResult {
  tunnelId: string;
  /** Sessions that had the tunnel before. Their agents have reconnected elsewhere. */
  supersededSessions: string[];
}

/** A tunnel that a bind resumes, with the sessions that serve it. */
interface ResumedTunnel {
  id: string;
  accountId: string;
  clientId: string;
  sessionId: string;
  legs: string[];
}

/** Registers a tunnel, or a further session of one that another session of the same agent serves. */
export function bindLabels(deps: RegistrarDeps, request: LabelBindRequest): Promise<LabelBindResult | AgentRefusal> {
  const { sessionId, labels, resume } = request;
  return inBindTransaction(deps, async (db, announce): Promise<LabelBindResult | AgentRefusal> => {
    const [context] = await loadBindContexts(db, [{ sessionId, hostport: '' }], deps.node.id);
    if (!context) return { refused: 'sessionEnded' };
    const { accountId, acl } = context;
    const denied = Object.entries(labels).find(([key, value]) => !allows(acl, { type: 'label', key, value }));
    if (denied) return { refused: 'labelDenied', target: denied.join('=') };
    const tunnel = resume === null ? undefined : await lockTunnel(db, resume);
    if (tunnel && joinsTunnel(request, context, tunnel)) {
      await joinTunnel(deps, db, request, tunnel);
      announceUpdate(announce, { id: tunnel.id, accountId, endpointId: null });
      return { tunnelId: tunnel.id, supersededSessions: [] };
    }
    if (tunnel) {
      await db.$queryRaw(deleteTunnels([tunnel.id]));
      announceEnd(announce, { id: tunnel.id, endpointId: null }, accountId);
    }
    const tunnelId = await insertTunnel(deps, db, request, context);
    announce({ kind: 'tunnel', action: 'CREATED', id: tunnelId, accountId });
    const before = tunnel ? [tunnel.sessionId, ...tunnel.legs] : [];
    return { tunnelId, supersededSessions: before.filter((id) => id !== sessionId) };
  });
}

/** The tunnel, which is locked: none of its sessions leaves it, and no other joins it, until the end of the transaction. */
async function lockTunnel(db: Db, id: string): Promise<ResumedTunnel | undefined> {
  const locked = await db.$queryRaw<object[]>`SELECT id FROM tunnel WHERE id = ${id} FOR UPDATE`;
  if (locked.length === 0) return undefined;
  const [tunnel] = await db.$queryRaw<ResumedTunnel[]>`
    SELECT t.id, t.account_id AS "accountId", s.client_id AS "clientId", t.session_id AS "sessionId",
      ARRAY(SELECT l.session_id FROM tunnel_leg l WHERE l.tunnel_id = t.id) AS legs
    FROM tunnel t JOIN tunnel_session s ON s.id = t.session_id WHERE t.id = ${id}`;
  return tunnel;
}

async function joinTunnel(
  { node }: RegistrarDeps,
  db: Db,
  { sessionId, forwardsTo, metadata }: LabelBindRequest,
  tunnel: ResumedTunnel,
): Promise<void> {
  const { id: tunnelId } = tunnel;
  await db.tunnel.updateMany({ where: { id: tunnelId }, data: { forwardsTo, metadata } });
  if (tunnel.sessionId === sessionId) return;
  await db.$executeRaw`
    INSERT INTO tunnel_leg (tunnel_id, session_id, node_id) VALUES (${tunnelId}, ${sessionId}, ${node.id})
    ON CONFLICT DO NOTHING`;
}

/** @returns the id of the tunnel, which is the resumed one where there was one. */
async function insertTunnel(
  { settings: { region } }: RegistrarDeps,
  db: Db,
  { sessionId, resume, labels, forwardsTo, metadata }: LabelBindRequest,
  { accountId }: BindContext,
): Promise<string> {
  const id = resume ?? newId('tn');
  await db.tunnel.create({
    data: { id, accountId, sessionId, labels, forwardsTo, metadata, region },
    select: { id: true },
  });
  return id;
}
