// Encrypts the secrets of policies that an earlier version of the gateway stored as plain text. It runs at every start.

import type { TrafficPolicySettings } from '../../edge/modules/traffic-policy.ts';
import { splitPolicy } from '../../policy/secrets/policy-secrets.ts';
import type { Db } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Keys } from '../keys/keys.ts';
import { protocolOf, sealPolicy } from './policy-secrets.ts';

/** The most rows that one query reads. */
const BATCH = 100;

interface Row {
  id: string;
  accountId: string;
  /** The policy as the API received it, with its secrets. */
  policy: TrafficPolicySettings;
}

/**
 * Encrypts the secrets of all policies that are not encrypted yet. Rows that change meanwhile are skipped, because every write
 * encrypts them.
 * @param onSealed called with the number of encrypted policies if there were any.
 */
export async function sealPolicies(db: Db, keys: Keys, onSealed: (count: number) => void): Promise<void> {
  let count = 0;
  for (const table of ['route', 'edge'] as const) {
    for (let rows = await plainAfter(db, table, ''); rows.length > 0; ) {
      for (const { id, accountId, policy } of rows) {
        const split = splitPolicy(policy.value, protocolOf(table));
        const sealed = sealPolicy(keys, { table, id, accountId }, policy.enabled, split);
        count += await db.$executeRaw`
          UPDATE ${Prisma.raw(table)} SET modules = modules || ${JSON.stringify({ trafficPolicy: sealed })}::jsonb
          WHERE id = ${id} AND modules -> 'trafficPolicy' = ${JSON.stringify(policy)}::jsonb`;
      }
      rows = await plainAfter(db, table, rows.at(-1)?.id ?? '');
    }
  }
  if (count > 0) onSealed(count);
}

function plainAfter(db: Db, table: string, after: string): Promise<Row[]> {
  return db.$queryRaw<Row[]>`
    SELECT id, account_id AS "accountId", modules -> 'trafficPolicy' AS policy FROM ${Prisma.raw(table)}
    WHERE id > ${after} AND modules -> 'trafficPolicy' IS NOT NULL AND modules -> 'trafficPolicy' -> 'sealed' IS NULL
    ORDER BY id LIMIT ${BATCH}`;
}
