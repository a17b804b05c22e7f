// What is known of offline addresses beyond their own rows: asked once for all rows of a page.

import type { Context } from '../../context.ts';

export interface OfflineDetails {
  /** The credential that it was served with, if that is still there. */
  credentialId: string | null;
  /** Who holds that. */
  principalId: string | null;
  /** Until when the address is kept for that credential. */
  heldUntil: Date | null;
}

interface Asking {
  ids: Set<string>;
  answer: Promise<Map<string, OfflineDetails>>;
}

const asking = new WeakMap<Context, Asking>();

/** The rows of a page all ask at the same moment: what they ask is gathered until it is over. */
export async function offlineDetails(context: Context, id: string): Promise<OfflineDetails> {
  const known = asking.get(context) ?? begin(context);
  known.ids.add(id);
  return (await known.answer).get(id) ?? { credentialId: null, principalId: null, heldUntil: null };
}

function begin(context: Context): Asking {
  const ids = new Set<string>();
  const answer = Promise.resolve().then(() => {
    asking.delete(context);
    return ask(context, [...ids]);
  });
  const begun = { ids, answer };
  asking.set(context, begun);
  return begun;
}

async function ask({ db, accountId }: Context, ids: string[]): Promise<Map<string, OfflineDetails>> {
  const rows = await db.$queryRaw<(OfflineDetails & { id: string })[]>`
    SELECT o.id, c.id AS "credentialId", c.owner_id AS "principalId", k.held_until AS "heldUntil" FROM offline_endpoint o
    LEFT JOIN credential c ON c.id = o.credential_id
    LEFT JOIN claim k ON k.address = o.address AND k.account_id = o.account_id AND k.credential_id = o.credential_id
      AND k.held_until > now()
    WHERE o.account_id = ${accountId} AND o.id = ANY(${ids})`;
  return new Map(rows.map(({ id, ...facts }) => [id, facts]));
}
