// Live objects: the rows behind tunnel sessions, tunnels and endpoints, and who may have which address. Implements what
// the tunnel side asks. Everything is announced like every other change.

import type { Registrar } from '../tunnel/control/registrar.ts';
import { isId } from './ids.ts';
import { bindLabels, bindsOf } from './live/binds.ts';
import { grantsOf } from './live/grants.ts';
import type { LiveParts } from './live/parts.ts';
import { type Sessions, sessionsOf } from './live/sessions.ts';
import { whereaboutsOf } from './live/whereabouts.ts';

export type { LiveParts, LiveSettings } from './live/parts.ts';

export interface LiveRegistrar extends Registrar, Pick<Sessions, 'isOwn'> {}

/** Registers live objects as this node's. */
export function liveRegistrar(parts: LiveParts): LiveRegistrar {
  const { prisma, changes } = parts;
  const sessions = sessionsOf(parts);
  const bind = bindsOf(parts);
  return {
    ...grantsOf(parts),
    ...sessions,
    whereIs: whereaboutsOf(parts),

    async bind(request) {
      const resume = request.resume !== null && isId('tn', request.resume) ? request.resume : null;
      const answer = await bind({ ...request, resume });
      if ('refused' in answer) return answer;
      const { ghosts, ...bound } = answer;
      // If it fails they end by themselves; what they had at this address is gone already.
      await Promise.all(ghosts.map((id) => sessions.endElsewhere(id).catch(() => undefined)));
      return bound;
    },

    bindLabels: (request) => bindLabels(parts, request),

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
