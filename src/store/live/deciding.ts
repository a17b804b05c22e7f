// Transactions that end with a refusal leave nothing behind.

import type { Refusal } from '../../tunnel/registrar.ts';
import type { Db } from '../client.ts';
import { insistent } from '../contention.ts';
import type { Announce, LiveParts } from './parts.ts';

/** Carries a refusal out of the transaction, which is rolled back. */
class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super('refused');
    this.refusal = refusal;
  }
}

/** Runs a transaction; when it answers with a refusal, it is as if it had not been. */
export async function deciding<T extends object>(
  { prisma, changes }: LiveParts,
  work: (db: Db, announce: Announce) => Promise<T | Refusal>,
): Promise<T | Refusal> {
  try {
    return await insistent(() =>
      changes.transaction(prisma, async (db, announce) => {
        const answer = await work(db, announce);
        if ('refused' in answer) throw new Refused(answer);
        return answer;
      }),
    );
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

/** On whose behalf something is bound, as it stands now. */
export interface Standing {
  accountId: string;
  credentialId: string;
  acl: string[];
  /** Whether an edge answers the name and port. */
  isOnEdge: boolean;
}

/**
 * The credential of a session of this node; undefined when one of them is gone, or the owner not active. Until the end
 * of the transaction it stays as it is: whoever changes it meanwhile hears of what was bound.
 * @param hostport what edges have in place of the address; '' for none.
 */
export async function standingOf(
  db: Db,
  sessionId: string,
  nodeId: string,
  hostport: string,
): Promise<Standing | undefined> {
  const [standing] = await db.$queryRaw<Standing[]>`
    SELECT s.account_id AS "accountId", c.id AS "credentialId", coalesce(c.acl, '{}') AS acl,
      EXISTS (SELECT 1 FROM edge_hostport WHERE hostport = ${hostport}) AS "isOnEdge"
    FROM tunnel_session s JOIN credential c ON c.id = s.credential_id JOIN owner o ON o.id = c.owner_id
    WHERE s.id = ${sessionId} AND s.node_id = ${nodeId} AND o.active
    FOR SHARE OF c, o`;
  return standing;
}
