// The IP restrictions of accounts, as the gateway reads and follows them.

import type {
  AccountRestriction,
  RestrictionSource,
  RestrictionType,
} from '../../edge/restrictions/restriction-source.ts';
import { followAccounts } from '../changes/account-changes.ts';
import type { Changes } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';

/** The kinds of objects whose changes are followed. An IP policy that is in use is nothing but its rules, and is not deleted. */
const KINDS: ReadonlySet<string> = new Set(['accountIpRestriction', 'ipPolicyRule']);

/** The most restrictions that one query reads: each may have some thousand rules. */
const BATCH = 50;

const select = {
  ...{ id: true, accountId: true, type: true, enforced: true },
  policies: {
    orderBy: { position: 'asc' },
    select: { policy: { select: { rules: { orderBy: { id: 'asc' }, select: { action: true, cidr: true } } } } },
  },
} as const satisfies Prisma.AccountIpRestrictionSelect;

/** Reads restrictions with all their rules, in the order of their ids. */
export async function readRestrictions(
  db: Db,
  where: Prisma.AccountIpRestrictionWhereInput,
): Promise<(AccountRestriction & { id: string })[]> {
  const read: (AccountRestriction & { id: string })[] = [];
  for (;;) {
    const after = { id: { gt: read.at(-1)?.id ?? '' } };
    const rows = await db.accountIpRestriction.findMany({
      ...{ where: { AND: [where, after] }, orderBy: { id: 'asc' }, take: BATCH },
      select,
    });
    for (const { id, accountId, type, enforced: isEnforced, policies } of rows) {
      const rules = policies.flatMap(({ policy }) => policy.rules);
      const of = (wanted: string) => rules.flatMap(({ action, cidr }) => (action === wanted ? [cidr] : []));
      const shown = type.toLowerCase() as RestrictionType;
      read.push({ id, accountId, type: shown, isEnforced, allow: of('ALLOW'), deny: of('DENY') });
    }
    if (rows.length < BATCH) return read;
  }
}

export interface RestrictionSourceOptions {
  prisma: Db;
  changes: Pick<Changes, 'follow' | 'onGap'>;
}

export function restrictionSource({ prisma, changes }: RestrictionSourceOptions): RestrictionSource {
  return {
    load: (accountIds) => readRestrictions(prisma, accountIds ? { accountId: { in: [...accountIds] } } : {}),

    onChange: (listener) => followAccounts(changes, KINDS, listener),
  };
}
