// The registrar of the tunnel layer: stores tunnel sessions, tunnels and endpoints, and decides who gets which address. Its
// changes are announced like all others.

import type { Registrar } from '../../tunnel/control/registrar.ts';
import { isId } from '../ids.ts';
import { bindLabels, createBind } from './binds.ts';
import { createGrants } from './credential-grants.ts';
import type { RegistrarDeps } from './registrar-deps.ts';
import { createRouteSource } from './route-lookup.ts';
import { createSessionStore, requireRecentLease, type SessionStore } from './sessions.ts';

export type { RegistrarDeps as LiveParts, RegistrarSettings as LiveSettings } from './registrar-deps.ts';

export interface NodeRegistrar extends Registrar, Pick<SessionStore, 'isOwn' | 'endMissingSessions'> {}

/** Registers live objects as this node's. */
export function createRegistrar(deps: RegistrarDeps): NodeRegistrar {
  const { prisma, changes, node } = deps;
  const sessions = createSessionStore(deps);
  const bind = createBind(deps);
  return {
    ...createGrants(deps),
    ...sessions,
    ...createRouteSource(deps),

    onLeaseRevived: (listener) => node.onRevival(listener),

    async takenTunnels(ids) {
      const rows = await prisma.tunnel.findMany({
        where: { id: { in: [...ids] }, session: { nodeId: node.id } },
        select: { id: true },
      });
      const own = new Set(rows.map(({ id }) => id));
      return ids.filter((id) => !own.has(id));
    },

    async bind(request) {
      await requireRecentLease(node);
      const resume = request.resume !== null && isId('tn', request.resume) ? request.resume : null;
      const answer = await bind({ ...request, resume });
      if ('refused' in answer) return answer;
      const { supersededSessions, ...bound } = answer;
      // If this fails, the sessions end at their next heartbeat; what they served at this address is deleted already.
      await Promise.all(supersededSessions.map((id) => sessions.endElsewhere(id).catch(() => undefined)));
      return bound;
    },

    bindLabels: (request) => bindLabels(deps, request),

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
