// What people call an agent, and label it with.

import type { Db } from '../database/client.ts';

/** What is assigned; what is undefined stays. */
export interface Assignment {
  /** null: the agent is called as it calls itself. */
  name?: string | null | undefined;
  /** All assigned labels, values by key. */
  labels?: Readonly<Record<string, string>> | undefined;
}

/** Assigns a name and labels, in one statement, so that nothing is lost that the agent says of itself at that moment. */
export async function assignToAgent(db: Db, id: string, { name, labels }: Assignment): Promise<void> {
  const keepsName = name === undefined;
  const assigned = labels === undefined ? null : JSON.stringify(labels);
  await db.$executeRaw`
    UPDATE agent a SET assigned_name = given.name, assigned_labels = given.labels,
      name = coalesce(given.name, nullif(a.reported_name, ''), nullif(a.host_name, ''), a.ip),
      labels = a.reported_labels || coalesce((SELECT c.labels FROM credential c WHERE c.id = a.credential_id), '{}') || given.labels
    FROM (SELECT id, CASE WHEN ${keepsName} THEN assigned_name ELSE ${name ?? null}::text END AS name,
        coalesce(${assigned}::jsonb, assigned_labels) AS labels FROM agent WHERE id = ${id} FOR NO KEY UPDATE) AS given
    WHERE a.id = given.id`;
}
