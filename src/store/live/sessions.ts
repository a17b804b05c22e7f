// Sessions of this node: which there are, and which were ended from elsewhere.

import type { OpenedSession, Registrar } from '../../tunnel/registrar.ts';
import type { Db } from '../client.ts';
import { insistent, isDangling } from '../contention.ts';
import { tellStart } from '../events/live-events.ts';
import type { Ingress } from '../events/live-objects.ts';
import { newId } from '../ids.ts';
import { endSessions, endTunnel } from './ending.ts';
import type { LiveParts } from './parts.ts';

export interface Sessions
  extends Pick<Registrar, 'sessionOpened' | 'sessionClosed' | 'tunnelClosed' | 'onSessionTaken'> {
  /** Whether a session is of this process, as long as its rows are there. */
  isOwn(sessionId: string): boolean;
  /** Ends a session whose agent has gone elsewhere; its node hears of it. */
  endElsewhere(sessionId: string): Promise<void>;
}

export function sessionsOf({ prisma, changes, node, settings, baseUrl }: LiveParts): Sessions {
  /** With where their agents came in. */
  const own = new Map<string, Ingress>();
  /** Those of them that are being closed here: that they end is no news. */
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
  // What happened meanwhile is not told. If the database cannot say either, there will be another gap.
  changes.onGap(() => void takeWhatIsGone().catch(() => undefined));

  async function takeWhatIsGone(): Promise<void> {
    const ids = [...own.keys()];
    if (ids.length === 0) return;
    const rows = await prisma.tunnelSession.findMany({ where: { id: { in: ids } }, select: { id: true } });
    const there = new Set(rows.map(({ id }) => id));
    for (const id of ids) if (!there.has(id)) taken(id);
  }

  const ingressOf = (id: string) => own.get(id);

  const end = (id: string, holdMs: number, reason: string, cause?: string) =>
    insistent(() =>
      changes.transaction(prisma, (db, announce) =>
        endSessions({ db, announce, baseUrl: baseUrl() }, [id], { holdMs, reason, cause, ingressOf }),
      ),
    );

  return {
    isOwn: (sessionId) => own.has(sessionId),

    onSessionTaken(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async sessionOpened(session) {
      const { accountId } = session;
      const id = newId('ts');
      const open = () => {
        own.set(id, session.ingress); // Another node may take it as soon as it is there.
        return insistent(() =>
          changes.transaction(prisma, async (db, announce) => {
            const telling = { db, announce, baseUrl: baseUrl() };
            const row = { ...session, id, nodeId: node.id, region };
            const there = await insertOrLock(db, row);
            if (there !== id) {
              const reason = 'replaced by a new session';
              await endSessions(telling, [there], { holdMs: sessionHold, reason, ingressOf });
              await insertOrLock(db, row);
            }
            announce({ kind: 'tunnelSession', action: 'CREATED', id, accountId });
            await tellStart(telling, row, session.ingress);
          }),
        );
      };
      try {
        await open().catch(async (error) => {
          if (!isDangling(error)) throw error;
          // Others may have swept this node away, whose lease had ended: it joins again, before it would by itself.
          await node.renew();
          await open();
        });
      } catch (error) {
        own.delete(id);
        throw error;
      }
      return id;
    },

    async sessionClosed(sessionId, holdMs, reason = '', cause) {
      closing.add(sessionId);
      try {
        await end(sessionId, holdMs, reason, cause);
        own.delete(sessionId);
      } finally {
        closing.delete(sessionId);
      }
    },

    endElsewhere: (sessionId) => end(sessionId, sessionHold, 'the agent is elsewhere'),

    tunnelClosed: (tunnelId, reason = '') =>
      insistent(() =>
        changes.transaction(prisma, (db, announce) =>
          endTunnel({ db, announce, baseUrl: baseUrl() }, tunnelId, reason),
        ),
      ),
  };
}

type SessionRow = OpenedSession & { id: string; nodeId: string; region: string };

/** @returns the id of the session that the agent has: this one, or the one before, which is locked. */
async function insertOrLock(db: Db, row: SessionRow): Promise<string> {
  const [there] = await db.$queryRaw<[{ id: string }]>`
    INSERT INTO tunnel_session (id, account_id, node_id, credential_id, client_id, agent_version, ip, os, arch,
      user_agent, metadata, region, transport)
    VALUES (${row.id}, ${row.accountId}, ${row.nodeId}, ${row.credentialId}, ${row.clientId}, ${row.agentVersion},
      ${row.ip}, ${row.os}, ${row.arch}, ${row.userAgent}, ${row.metadata}, ${row.region}, ${row.transport})
    ON CONFLICT (account_id, client_id) DO UPDATE SET client_id = EXCLUDED.client_id RETURNING id`;
  return there.id;
}
