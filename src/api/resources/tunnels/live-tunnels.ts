// What counts as live: what belongs to a node whose lease holds. And who serves whom, by labels.

import { liveNodes } from '../../../store/nodes/nodes.ts';
import type { Labels } from '../../../tunnel/endpoints/endpoint.ts';
import type { Context } from '../../context.ts';

/**
 * The part of a query that leaves only sessions and endpoints that are live. It asks where the context does: inside a
 * transaction a second connection may never come, as the embedded database has but one.
 */
export async function onLiveNodes({ db }: Pick<Context, 'db'>) {
  return { nodeId: { in: await liveNodes(db) } };
}

/** The same of endpoints: alternatives, as one session on a live node is enough. */
export async function servedOnLiveNodes(context: Pick<Context, 'db'>) {
  const onLive = await onLiveNodes(context);
  return [onLive, { tunnel: { legs: { some: onLive } } }];
}

/** The same of tunnels. */
export async function openOnLiveNodes(context: Pick<Context, 'db'>) {
  const onLive = await onLiveNodes(context);
  return { OR: [{ session: onLive }, { legs: { some: onLive } }] };
}

const LIVE_NODES = '(SELECT id FROM node WHERE lease_until > now())';

/** `onLiveNodes` in SQL, of a table `t`. */
export const ON_LIVE_NODES = `t.node_id IN ${LIVE_NODES}`;
/** `servedOnLiveNodes` in SQL, of a table `t`. */
export const SERVED_ON_LIVE_NODES = `(${ON_LIVE_NODES} OR EXISTS (SELECT 1 FROM tunnel_leg leg WHERE leg.tunnel_id = t.tunnel_id AND leg.node_id IN ${LIVE_NODES}))`;

export interface Labelled {
  id: string;
  labels: Labels;
}

/** What has to be known of a tunnel to tell which sessions serve it. */
export const sessionsSelect = {
  sessionId: true,
  session: { select: { clientId: true } },
  legs: { select: { sessionId: true } },
} as const;

export interface OpenTunnel {
  sessionId: string;
  /** Null when the session has ended while the tunnel was read: Prisma reads relations in statements of their own. */
  session: { clientId: string } | null;
  legs: { sessionId: string }[];
}

type Load<T> = (context: Context) => Promise<T[]>;

/** The nodes whose lease holds. */
export const liveNodeIds = coalesced(({ db }) => liveNodes(db));

/** The account's live tunnels that have labels, the newest first. */
export const liveLabelledTunnels = coalesced(async (context) => {
  const { db, accountId } = context;
  const where = { accountId, publicUrl: null, ...(await openOnLiveNodes(context)) };
  const select = { id: true, labels: true, ...sessionsSelect } as const;
  return (await db.tunnel.findMany({ where, select, orderBy: { id: 'desc' } })) as (Labelled & OpenTunnel)[];
});

/** The account's tunnel groups, the newest first. */
export const tunnelGroups = coalesced(async ({ db, accountId }) => {
  const where = { accountId, kind: 'TUNNEL_GROUP' } as const;
  const query = { where, select: { id: true, labels: true }, orderBy: { id: 'desc' } } as const;
  return (await db.backend.findMany(query)) as Labelled[];
});

/** The account's backends that send traffic to others, with the ids of those. */
export const choosingBackends = coalesced(({ db, accountId }) => {
  const where = { accountId, kind: { in: ['WEIGHTED' as const, 'FAILOVER' as const] } };
  return db.backend.findMany({ where, select: { id: true, members: { select: { memberId: true } } } });
});

/** How many live sessions each of the account's credentials has. */
export const sessionCounts = coalesced(async (context) => {
  const { db, accountId } = context;
  const where = { accountId, credentialId: { not: null }, ...(await onLiveNodes(context)) };
  const groups = await db.tunnelSession.groupBy({ by: ['credentialId'], where, _count: true });
  return groups.map(({ credentialId, _count: sessions }) => ({ credentialId, sessions }));
});

/** Coalesces loads: resolvers that ask while a load of the same context runs share it, as the rows of a page all ask at once. */
function coalesced<T>(load: Load<T>): Load<T> {
  const pendingLoads = new WeakMap<Context, Promise<T[]>>();
  return (context) => {
    const pending = pendingLoads.get(context);
    if (pending) return pending;
    const loading = load(context).finally(() => pendingLoads.delete(context));
    pendingLoads.set(context, loading);
    return loading;
  };
}
