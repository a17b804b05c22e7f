// Live objects: the rows behind tunnel sessions, tunnels and endpoints. Implements what the tunnel side asks.

import type { OpenedLabelTunnel, OpenedSession, OpenedTunnel, Registrar } from '../tunnel/registrar.ts';
import type { Change, Changes } from './changes.ts';
import type { Db, PrismaClient } from './client.ts';
import { newId } from './ids.ts';

/** Registers live objects as this node's, and announces them like every other change. */
export function liveRegistrar(prisma: PrismaClient, changes: Changes, nodeId: string, region: string): Registrar {
  const write = <T>(work: (tx: Db, announce: (change: Change) => void) => Promise<T>) =>
    changes.transaction(prisma, work);

  return {
    sessionOpened: (session: OpenedSession) =>
      write(async (tx, announce) => {
        const id = newId('ts');
        await tx.tunnelSession.create({ data: { ...session, id, nodeId, region } });
        announce({ kind: 'tunnelSession', action: 'CREATED', id, accountId: session.accountId });
        return id;
      }),

    sessionClosed: (id) =>
      write(async (tx, announce) => {
        const tunnels = await tx.tunnel.findMany({
          where: { sessionId: id },
          include: { endpoint: { select: { id: true } } },
        });
        const session = await tx.tunnelSession.findUnique({ where: { id } });
        if (!session) return;
        const { accountId } = session;
        await tx.tunnelSession.delete({ where: { id } });
        for (const tunnel of tunnels) {
          if (tunnel.endpoint) announce({ kind: 'endpoint', action: 'DELETED', id: tunnel.endpoint.id, accountId });
          announce({ kind: 'tunnel', action: 'DELETED', id: tunnel.id, accountId });
        }
        announce({ kind: 'tunnelSession', action: 'DELETED', id, accountId });
      }),

    tunnelOpened: (tunnel: OpenedTunnel) =>
      write(async (tx, announce) => {
        const { accountId } = await tx.tunnelSession.findUniqueOrThrow({ where: { id: tunnel.sessionId } });
        const { proto, publicUrl, hostname, port, metadata, forwardsTo, sessionId } = tunnel;
        const tunnelId = newId('tn');
        const endpointId = tunnelId.replace('tn_', 'ep_'); // A tunnel and its endpoint share what follows the prefix.
        await tx.tunnel.create({
          data: { id: tunnelId, accountId, sessionId, proto, publicUrl, forwardsTo, metadata, region },
        });
        await tx.endpoint.create({
          data: {
            id: endpointId,
            accountId,
            nodeId,
            type: 'EPHEMERAL',
            proto,
            publicUrl,
            hostport: `${hostname}:${port}`,
            metadata,
            region,
            tunnelId,
            domainId: await reservedFor(tx, accountId, hostname),
          },
        });
        announce({ kind: 'tunnel', action: 'CREATED', id: tunnelId, accountId });
        announce({ kind: 'endpoint', action: 'CREATED', id: endpointId, accountId });
        return { tunnelId, endpointId };
      }),

    labelTunnelOpened: (tunnel: OpenedLabelTunnel) =>
      write(async (tx, announce) => {
        const { accountId } = await tx.tunnelSession.findUniqueOrThrow({ where: { id: tunnel.sessionId } });
        const tunnelId = newId('tn');
        await tx.tunnel.create({ data: { ...tunnel, id: tunnelId, accountId, region } });
        announce({ kind: 'tunnel', action: 'CREATED', id: tunnelId, accountId });
        return { tunnelId };
      }),

    tunnelClosed: (id) =>
      write(async (tx, announce) => {
        const tunnel = await tx.tunnel.findUnique({ where: { id }, include: { endpoint: { select: { id: true } } } });
        if (!tunnel) return;
        const { accountId, endpoint } = tunnel;
        await tx.tunnel.delete({ where: { id } });
        if (endpoint) announce({ kind: 'endpoint', action: 'DELETED', id: endpoint.id, accountId });
        announce({ kind: 'tunnel', action: 'DELETED', id, accountId });
      }),
  };
}

/** The account's reservation that covers a name: its own, or the nearest wildcard above it. */
export async function reservedFor(db: Db, accountId: string, hostname: string): Promise<string | null> {
  const labels = hostname.split('.');
  const names = [hostname, ...labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`)];
  const rows = await db.reservedDomain.findMany({
    where: { accountId, domain: { in: names } },
    select: { id: true, domain: true },
  });
  // The names are in the order of their nearness.
  return rows.sort((a, b) => names.indexOf(a.domain) - names.indexOf(b.domain))[0]?.id ?? null;
}
