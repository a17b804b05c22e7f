// Changes of some kinds of objects, told by the accounts that they are about.

import { isId } from '../ids.ts';
import type { Changes } from './changes.ts';

/**
 * Follows the changes of kinds of objects.
 * @param listener called with the accounts whose objects have changed; null when any may have. A write of this process is not
 * acknowledged before its promise is settled, as `Changes.follow` says.
 * @returns the function that ends it.
 */
export function followAccounts(
  changes: Pick<Changes, 'follow' | 'onGap'>,
  kinds: ReadonlySet<string>,
  listener: (accountIds: readonly string[] | null) => Promise<void>,
): () => void {
  const stops = [
    changes.follow(async (changed) => {
      const accountIds = changed.flatMap(({ kind, accountId }) => (kinds.has(kind) ? [accountId] : []));
      // An announcement without a valid id may be about any account.
      const isNamed = accountIds.every((id) => isId('ac', id));
      if (accountIds.length > 0) await listener(isNamed ? [...new Set(accountIds)] : null);
    }),
    changes.onGap(() => void listener(null)),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
