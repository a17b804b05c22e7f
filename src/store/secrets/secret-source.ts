// The secrets of accounts, as the data plane reads and follows them.

import type { AccountSecrets, SecretSource } from '../../edge/vaults/secret-source.ts';
import { followAccounts } from '../changes/account-changes.ts';
import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';
import { openSecretValue } from './secret-values.ts';

/** The kinds of objects whose changes the data plane follows. */
const KINDS: ReadonlySet<string> = new Set(['vault', 'secret']);

/** The most rows that one query reads. */
const BATCH = 1000;

export interface SecretSourceOptions {
  prisma: PrismaClient;
  changes: Pick<Changes, 'follow' | 'onGap'>;
  keys: Keys;
  /** Called for each secret that cannot be decrypted. It is left out. */
  onFailure(id: string, error: unknown): void;
}

export function secretSource({ prisma, changes, keys, onFailure }: SecretSourceOptions): SecretSource {
  const select = { id: true, accountId: true, name: true, value: true, vault: { select: { name: true } } } as const;

  async function* rows(accountIds: readonly string[] | null) {
    const scope = accountIds && { accountId: { in: [...accountIds] } };
    for (let after = ''; ; ) {
      const where = { ...scope, id: { gt: after } };
      const page = await prisma.secret.findMany({ where, orderBy: { id: 'asc' }, take: BATCH, select });
      yield* page;
      if (page.length < BATCH) return;
      after = page.at(-1)?.id ?? '';
    }
  }

  return {
    async load(accountIds) {
      const accounts = new Map<string, Map<string, Map<string, string>>>();
      for await (const row of rows(accountIds)) {
        const vaults = accounts.get(row.accountId) ?? new Map<string, Map<string, string>>();
        accounts.set(row.accountId, vaults);
        const secrets = vaults.get(row.vault.name) ?? new Map<string, string>();
        vaults.set(row.vault.name, secrets);
        try {
          secrets.set(row.name, openSecretValue(keys, row));
        } catch (error) {
          onFailure(row.id, error);
        }
      }
      return Array.from(accounts, ([accountId, vaults]): AccountSecrets => ({ accountId, vaults }));
    },

    onChange: (listener) => followAccounts(changes, KINDS, listener),
  };
}
