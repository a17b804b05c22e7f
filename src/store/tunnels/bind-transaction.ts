// Transactions of binds, which are rolled back when the bind is refused.

import type { Db } from '../database/client.ts';
import { retryOnConflict } from '../database/retry-on-conflict.ts';
import type { Announce, RegistrarDeps } from './registrar-deps.ts';

/** Thrown to roll the transaction back. It carries the refusals of the batch. */
class Refused extends Error {
  readonly answer: object;

  constructor(answer: object) {
    super('refused');
    this.answer = answer;
  }
}

/** Runs a transaction. It is rolled back when its answer has `refused`. */
export async function inBindTransaction<Answer extends object>(
  { prisma, changes }: Pick<RegistrarDeps, 'prisma' | 'changes'>,
  work: (db: Db, announce: Announce) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await retryOnConflict(() =>
      changes.transaction(prisma, async (db, announce) => {
        const answer = await work(db, announce);
        if ('refused' in answer) throw new Refused(answer);
        return answer;
      }),
    );
  } catch (error) {
    if (error instanceof Refused) return error.answer as Answer;
    throw error;
  }
}

/** The credential that a bind is made with, as it is now. */
export interface BindContext {
  accountId: string;
  /** The id of the agent. */
  clientId: string;
  credentialId: string;
  acl: string[];
  /** Whether an edge serves the hostport. */
  isOnEdge: boolean;
}

/** What is needed to load the context of a bind. */
export interface RequestedBind {
  sessionId: string;
  /** The hostport that an edge would have. */
  hostport: string;
}

/**
 * The contexts of binds, in the given order; undefined when the session or its credential is gone, or the owner is inactive. The
 * credentials stay locked until the end of the transaction, so that a later change of one sees what was bound.
 */
export async function loadBindContexts(
  db: Db,
  requested: readonly RequestedBind[],
  nodeId: string,
): Promise<(BindContext | undefined)[]> {
  const rows = await db.$queryRaw<(BindContext & { place: number })[]>`
    SELECT w.place::int AS place, s.account_id AS "accountId", s.client_id AS "clientId", c.id AS "credentialId", coalesce(c.acl, '{}') AS acl,
      EXISTS (SELECT 1 FROM edge_hostport e WHERE e.hostport = w.hostport) AS "isOnEdge"
    FROM unnest(${requested.map(({ sessionId }) => sessionId)}::text[], ${requested.map(({ hostport }) => hostport)}::text[])
      WITH ORDINALITY AS w(session_id, hostport, place)
    JOIN tunnel_session s ON s.id = w.session_id
    JOIN credential c ON c.id = s.credential_id JOIN owner o ON o.id = c.owner_id
    WHERE s.node_id = ${nodeId} AND o.active
    ORDER BY c.id FOR SHARE OF c, o`;
  const contexts: (BindContext | undefined)[] = requested.map(() => undefined);
  for (const { place, ...context } of rows) contexts[place - 1] = context;
  return contexts;
}
