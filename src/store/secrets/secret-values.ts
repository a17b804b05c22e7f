// The values of secrets in the database. They are encrypted, and bound to their row.

import type { Db } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';

/** The row of a secret that its value is bound to. */
export interface SecretRow {
  id: string;
  accountId: string;
}

/** The most rows that a query reads while all are sealed anew. */
const BATCH = 500;

/** A value, encrypted as it is stored. */
export function sealSecretValue(keys: Keys, row: SecretRow, value: string): string {
  return keys.seal(value, placeOf(row));
}

/** The value of a row. @throws when it was sealed for another row, or with a server key that this process does not have. */
export function openSecretValue(keys: Keys, row: SecretRow & { value: string }): string {
  return keys.open(row.value, placeOf(row));
}

/** Encrypts the values of all secrets with the current server key. */
export async function resealSecretValues(db: Db, keys: Keys): Promise<void> {
  const select = { id: true, accountId: true, value: true } as const;
  for (let after = ''; ; ) {
    const rows = await db.secret.findMany({
      where: { id: { gt: after } },
      orderBy: { id: 'asc' },
      take: BATCH,
      select,
    });
    for (const row of rows) {
      const value = sealSecretValue(keys, row, openSecretValue(keys, row));
      await db.secret.update({ where: { id: row.id }, data: { value }, select: { id: true } });
    }
    if (rows.length < BATCH) return;
    after = rows.at(-1)?.id ?? '';
  }
}

function placeOf({ id, accountId }: SecretRow): string {
  return `secret:${accountId}:${id}:value`;
}
