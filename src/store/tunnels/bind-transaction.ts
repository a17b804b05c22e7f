// Transactions that end with a refusal leave nothing behind.

import type { Db } from '../database/client.ts';
import { retryOnConflict } from '../database/retry-on-conflict.ts';
import type { Announce, RegistrarDeps } from './registrar-deps.ts';

/** Carries a refusal, of one or of some of a batch, out of the transaction, which is rolled back. */
class Refused extends Error {
  readonly answer: object;

  constructor(answer: object) {
    super('refused');
    this.answer = answer;
  }
}

/** Runs a transaction; when it answers with a refusal, that has `refused`, it is as if it had not been. */
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

/** On whose behalf something is bound, as it stands now. */
export interface BindContext {
  accountId: string;
  credentialId: string;
  acl: string[];
  /** Whether an edge answers the name and port. */
  isOnEdge: boolean;
}

/** What somebody wants to bind. */
export interface RequestedBind {
  sessionId: string;
  /** What edges have in place of the address; '' for none. */
  hostport: string;
}

/**
 * The credentials of sessions of this node, in the order of what is wanted; undefined when one of them is gone, or the owner
 * not active. Until the end of the transaction they stay as they are: whoever changes one meanwhile hears of what was bound.
 */
export async function loadBindContexts(
  db: Db,
  requested: readonly RequestedBind[],
  nodeId: string,
): Promise<(BindContext | undefined)[]> {
  const rows = await db.$queryRaw<(BindContext & { place: number })[]>`
    SELECT w.place::int AS place, s.account_id AS "accountId", c.id AS "credentialId", coalesce(c.acl, '{}') AS acl,
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
