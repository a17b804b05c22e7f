// The registrar of the tunnel layer: stores tunnel sessions, tunnels and endpoints, and decides who gets which address. Its
// changes are announced like all others.

import type { Registrar } from '../../tunnel/control/registrar.ts';
import { isId } from '../ids.ts';
import { createBindRefusals } from './bind-refusals.ts';
import { createBind } from './binds.ts';
import { createGrants } from './credential-grants.ts';
import { bindLabels } from './label-binds.ts';
import type { RegistrarDeps } from './registrar-deps.ts';
import { createRouteSource } from './route-lookup.ts';
import { createSessionStore, requireRecentLease, type SessionStore } from './sessions.ts';

export type { RegistrarDeps as LiveParts, RegistrarSettings as LiveSettings } from './registrar-deps.ts';

export interface NodeRegistrar extends Registrar, Pick<SessionStore, 'isOwn' | 'endMissingSessions' | 'reconcile'> {}

/** Registers live objects as this node's. */
export function createRegistrar(deps: RegistrarDeps): NodeRegistrar {
  const { prisma, changes, node } = deps;
  const sessions = createSessionStore(deps);
  const bind = createBind(deps);
  const resumable = (id: string | null) => (id !== null && isId('tn', id) ? id : null);
  // If this fails, the sessions end at their next heartbeat; what they served is deleted already.
  const endAll = (ids: string[]) => Promise.all(ids.map((id) => sessions.endElsewhere(id).catch(() => undefined)));
  return {
    nodeId: node.id,
    ...createGrants(deps),
    ...sessions,
    ...createRouteSource(deps),

    onLeaseRevived: (listener) => node.onRevival(listener),

    async takenTunnels(ids) {
      const { id: nodeId } = node;
      const rows = await prisma.tunnel.findMany({
        where: { id: { in: [...ids] }, OR: [{ session: { nodeId } }, { legs: { some: { nodeId } } }] },
        select: { id: true },
      });
      const own = new Set(rows.map(({ id }) => id));
      return ids.filter((id) => !own.has(id));
    },

    async bind(request) {
      await requireRecentLease(node);
      const answer = await bind({ ...request, resume: resumable(request.resume) });
      if ('refused' in answer) return answer;
      const { supersededSessions, ...bound } = answer;
      await endAll(supersededSessions);
      return bound;
    },

    async bindLabels(request) {
      const answer = await bindLabels(deps, { ...request, resume: resumable(request.resume) });
      if ('refused' in answer) return answer;
      const { supersededSessions, ...bound } = answer;
      await endAll(supersededSessions);
      return bound;
    },

    bindRefused: createBindRefusals(deps),

    tunnelChanged: (id, { metadata }) =>
      changes.transaction(prisma, async (tx, announce) => {
        const where = { id };
        const tunnel = await tx.tunnel.findUnique({
          where,
          select: { accountId: true, endpoint: { select: { id: true } } },
        });
        if (!tunnel) return;
        const { accountId, endpoint } = tunnel;
        await tx.tunnel.updateMany({ where, data: { metadata } });
        announce({ kind: 'tunnel', action: 'UPDATED', id, accountId });
        if (!endpoint) return;
        await tx.endpoint.updateMany({ where: { id: endpoint.id }, data: { metadata, updatedAt: new Date() } });
        announce({ kind: 'endpoint', action: 'UPDATED', id: endpoint.id, accountId });
      }),
  };
}
