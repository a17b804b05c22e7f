// Nodes that run with earlier code: the schema must not take away what that uses.

import type pg from 'pg';

/** Which nodes count as running when the schema is about to contract. */
export interface RunningNodes {
  /** Workers of this machine that are alive. */
  workers: readonly string[];
  /** Whether those with a valid lease do, too: other machines may use the database. */
  hasLeases: boolean;
}

/** The nodes that run with code which does not know a migration. */
export async function findOlderNodes(
  on: Pick<pg.ClientBase, 'query'>,
  migration: string,
  { workers, hasLeases }: RunningNodes,
): Promise<string[]> {
  const { rows } = await on.query<{ id: string }>(
    `SELECT id FROM node WHERE (id = ANY($1) OR ($2 AND lease_until > now())) AND migration COLLATE "C" < $3 ORDER BY id`,
    [workers, hasLeases, migration],
  );
  return rows.map(({ id }) => id);
}
