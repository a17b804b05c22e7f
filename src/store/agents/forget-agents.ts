// Forgets agents that have been offline for long, and of an account with very many those that have been for longest.

import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import { retryOnConflict } from '../database/retry-on-conflict.ts';

/** How many agents of one account are kept, the connected ones among them. */
const AGENTS_MAX = 50_000;

/** @param keepDays after how many days an agent is forgotten that has not been seen. */
export function forgetAgents(
  { prisma, changes }: { prisma: PrismaClient; changes: Changes },
  keepDays: number,
): Promise<void> {
  return retryOnConflict(() =>
    changes.transaction(prisma, async (db, announce) => {
      const forgotten = await db.$queryRaw<{ id: string; accountId: string }[]>`
        DELETE FROM agent WHERE NOT EXISTS (SELECT 1 FROM tunnel_session s WHERE s.agent_id = agent.id) AND (
          last_seen_at < now() - ${keepDays} * interval '1 day' OR id IN (
            SELECT placed.id FROM (
              SELECT id, row_number() OVER (PARTITION BY account_id ORDER BY last_seen_at DESC) AS place FROM agent
              WHERE account_id IN (SELECT account_id FROM agent GROUP BY account_id HAVING count(*) > ${AGENTS_MAX})
            ) AS placed WHERE place > ${AGENTS_MAX})
        ) RETURNING id, account_id AS "accountId"`;
      for (const { id, accountId } of forgotten) announce({ kind: 'agent', action: 'DELETED', id, accountId });
    }),
  );
}
