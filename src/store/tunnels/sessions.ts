// The sessions of this node: starts and ends them, and finds those that other nodes have ended.

import { SESSION_REPLACED } from '../../protocol/messages/session-end.ts';
import type { Registrar } from '../../tunnel/control/registrar.ts';
import { recordArrivals } from '../agents/agent-arrivals.ts';
import { isMissingReference, retryOnConflict } from '../database/retry-on-conflict.ts';
import { recordSessionStarts } from '../events/live-events.ts';
import type { Ingress } from '../events/live-objects.ts';
import { newId } from '../ids.ts';
import { batched } from './batched.ts';
import { endSessions, endTunnel, leaveSharedTunnels } from './end-session.ts';
import type { RegistrarDeps } from './registrar-deps.ts';
import { insertOrLock, type SessionRow, setEarlierAside } from './session-rows.ts';

export interface SessionStore
  extends Pick<Registrar, 'sessionOpened' | 'sessionClosed' | 'tunnelClosed' | 'leaveTunnels' | 'onSessionReplaced'> {
  /** Whether this process holds a session whose row still exists. */
  isOwn(sessionId: string): boolean;
  /**
   * Ends the sessions whose rows are gone, if the number of rows is not what this node knows. It is called at intervals: the hint at
   * a session that ended elsewhere may be lost.
   */
  endMissingSessions(): Promise<void>;
  /**
   * Brings what was adopted and the database together: it ends adopted sessions without a row, and deletes the rows of sessions and
   * tunnels that were not adopted.
   */
  reconcile(tunnelIds: readonly string[]): Promise<void>;
  /** Ends a session whose agent has reconnected elsewhere. Its node is notified. */
  endElsewhere(sessionId: string): Promise<void>;
}

/** Why a session ended whose process did not say so. */
const LOST = 'the connection was lost';

export function createSessionStore(deps: RegistrarDeps): SessionStore {
  const { prisma, changes, node, settings, baseUrl } = deps;
  /** The sessions of this node, with where their agents connected. */
  const own = new Map<string, Ingress>(deps.adopted);
  /** Sessions that begin: their rows may not exist yet. */
  const opening = new Set<string>();
  /** Sessions that this node is closing, whose end is not reported as a replacement. */
  const closing = new Set<string>();
  const listeners = new Set<(sessionId: string) => void>();
  const { region, sessionHold } = settings;

  const taken = (id: string) => {
    if (!closing.has(id) && own.delete(id)) for (const listener of listeners) listener(id);
  };
  changes.listen(({ kind, action, id }) => {
    if (kind === 'tunnelSession' && action === 'DELETED') taken(id);
  });
  node.onLapse(() => [...own.keys()].forEach(taken));
  node.onRevival(() => void takeWhatIsGone().catch(() => undefined));
  // After a gap, sessions may have been deleted unnoticed. If the database does not answer either, another gap follows.
  changes.onGap(() => void takeWhatIsGone().catch(() => undefined));

  async function takeWhatIsGone(): Promise<void> {
    const ids = [...own.keys()].filter((id) => !opening.has(id));
    if (ids.length === 0) return;
    const rows = await prisma.tunnelSession.findMany({ where: { id: { in: ids } }, select: { id: true } });
    const there = new Set(rows.map(({ id }) => id));
    for (const id of ids) if (!there.has(id)) taken(id);
  }

  /** How many rows more than known sessions the last comparison left: rows of sessions that failed to begin, and alike. */
  let knownSurplus = 0;
  async function endMissingSessions(): Promise<void> {
    const rows = await prisma.tunnelSession.count({ where: { nodeId: node.id } });
    const surplus = () => rows - (own.size - opening.size);
    if (surplus() === knownSurplus) return;
    await takeWhatIsGone();
    knownSurplus = surplus();
  }

  const ingressOf = (id: string) => own.get(id);

  const end = batched<Ending, void>({
    keysOf: ({ id }) => [id],
    async work(endings) {
      for (const alike of grouped(endings, ({ holdMs, reason, cause }) => `${holdMs} ${reason} ${cause}`)) {
        const [{ holdMs, reason, cause }] = alike;
        const ids = alike.map(({ id }) => id);
        await retryOnConflict(() =>
          changes.transaction(prisma, (db, announce) =>
            endSessions({ db, announce, baseUrl: baseUrl() }, ids, { holdMs, reason, cause, ingressOf }),
          ),
        );
      }
      return [];
    },
  });

  const begin = batched<SessionRow, void>({
    keysOf: ({ accountId, clientId, leg }) => [`${accountId} ${clientId} ${leg}`],
    async work(opened) {
      const arrivals = await retryOnConflict(() => recordArrivals(prisma, opened));
      const rows = opened.map((row) => ({ ...row, agentId: arrivals.get(row)?.id ?? null }));
      await retryOnConflict(() =>
        changes.transaction(prisma, async (db, announce) => {
          const audit = { db, announce, baseUrl: baseUrl() };
          await setEarlierAside(
            db,
            rows.filter(({ moves }) => moves),
          );
          const there = await insertOrLock(db, rows);
          const before = there.filter((id) => !rows.some((row) => row.id === id));
          if (before.length > 0) {
            const reason = SESSION_REPLACED;
            await endSessions(audit, before, { holdMs: sessionHold, reason, ingressOf });
            await insertOrLock(
              db,
              rows.filter(({ id }) => !there.includes(id)),
            );
          }
          for (const { id, accountId } of rows) announce({ kind: 'tunnelSession', action: 'CREATED', id, accountId });
          for (const { id, accountId, isNew } of new Map(
            [...arrivals.values()].map((agent) => [agent.id, agent]),
          ).values())
            announce({ kind: 'agent', action: isNew ? 'CREATED' : 'UPDATED', id, accountId });
          await recordSessionStarts(audit, rows);
        }),
      );
      return [];
    },
  });

  const leaveTunnels = batched<string, boolean>({
    keysOf: (id) => [id],
    async work(ids) {
      const staying = await retryOnConflict(() =>
        changes.transaction(prisma, (db, announce) =>
          leaveSharedTunnels({ db, announce, baseUrl: baseUrl() }, [...ids]),
        ),
      );
      return ids.map((id) => !staying.has(id));
    },
  });

  const tunnelClosed = (sessionId: string, tunnelId: string, reason = '') =>
    retryOnConflict(() =>
      changes.transaction(prisma, (db, announce) =>
        endTunnel({ db, announce, baseUrl: baseUrl() }, { sessionId, tunnelId }, reason),
      ),
    );

  return {
    isOwn: (sessionId) => own.has(sessionId),

    endMissingSessions,

    async reconcile(tunnelIds) {
      await takeWhatIsGone();
      const rows = await prisma.tunnelSession.findMany({ where: { nodeId: node.id }, select: { id: true } });
      const lost = rows.filter(({ id }) => !own.has(id));
      await Promise.all(lost.map(({ id }) => end({ id, holdMs: sessionHold, reason: LOST })));
      const unknown = await prisma.tunnel.findMany({
        where: { session: { nodeId: node.id }, id: { notIn: [...tunnelIds] } },
        select: { id: true, sessionId: true },
      });
      await Promise.all(unknown.map(({ id, sessionId }) => tunnelClosed(sessionId, id, LOST)));
    },

    onSessionReplaced(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async sessionOpened(session) {
      await requireRecentLease(node);
      const id = newId('ts');
      opening.add(id);
      const open = () => {
        own.set(id, session.ingress); // Another node may replace the session as soon as its row exists.
        return begin({ ...session, id, nodeId: node.id, region });
      };
      try {
        await open().catch(async (error) => {
          if (!isMissingReference(error)) throw error;
          // The row of this node is gone: its lease ended and others deleted it. It joins again at once.
          await node.renew();
          await open();
        });
      } catch (error) {
        own.delete(id);
        throw error;
      } finally {
        opening.delete(id);
      }
      return id;
    },

    async sessionClosed(sessionId, holdMs, reason = '', cause) {
      closing.add(sessionId);
      try {
        await end({ id: sessionId, holdMs, reason, cause });
        own.delete(sessionId);
      } finally {
        closing.delete(sessionId);
      }
    },

    endElsewhere: (id) => end({ id, holdMs: sessionHold, reason: 'replaced by a new session elsewhere' }),

    tunnelClosed,

    leaveTunnels,
  };
}

/**
 * Renews the lease when that is late: after the database was away, the leases of other nodes have ended although they are alive, and
 * nothing may be taken from them.
 */
export async function requireRecentLease(node: RegistrarDeps['node']): Promise<void> {
  if (!node.isRecent) await node.renew();
}

interface Ending {
  id: string;
  holdMs: number;
  reason: string;
  cause?: string | undefined;
}

/** Groups items by key, in the order in which the keys first occur. */
function grouped<T>(items: readonly T[], keyOf: (item: T) => string): [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()];
}
